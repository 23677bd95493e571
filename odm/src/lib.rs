//! A typed object-document mapper that keeps derived data right by itself.

#![deny(missing_docs)]

mod catalog;
mod database;
mod error;
mod maintain;
mod measure;
pub mod model;
pub mod mql;
pub mod prelude;
#[doc(hidden)]
pub mod private;
pub mod query;
pub mod repository;
pub mod store;

pub use bson;
pub use database::Begun;
pub use error::{Error, ErrorKind, Place, Result};
pub use measure::measure;
pub use model::{DateTime, ObjectId, Ref};
pub use prelude::{Database, Document, Embed, Projection};
