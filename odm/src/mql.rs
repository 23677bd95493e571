//! MongoDB's query language as pure functions on BSON: comparison, filters, updates, sorts and
//! projections. No I/O and no models.

mod error;
mod filter;
pub mod key;
pub mod order;
pub mod path;
mod project;
mod sort;
mod update;

pub use error::Error;
pub use filter::{Filter, Pattern, Test};
pub use project::Projection;
pub use sort::{Direction, Sort};
pub use update::{Operation, Push, Update};
