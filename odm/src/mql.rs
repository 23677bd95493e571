//! MongoDB's query language as pure functions on BSON: comparison, filters, updates, sorts and
//! projections. No I/O and no models.
//!
//! The types will grow with the language: they are `#[non_exhaustive]`.

pub(crate) mod diff;
mod error;
mod filter;
pub mod key;
mod number;
pub mod order;
pub(crate) mod path;
mod project;
mod sort;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod types;
mod update;
mod write;

pub use error::Error;
pub use filter::{Filter, Pattern, Test};
pub use project::Projection;
pub use sort::{Direction, Sort};
pub use update::{ArrayFilter, CurrentDate, End, Operation, Pull, Push, PushSort, Update};
