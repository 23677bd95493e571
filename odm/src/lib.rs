//! A typed object-document mapper that keeps derived data right by itself.

#![deny(missing_docs)]

mod error;
pub mod mql;
pub mod store;

pub use bson;
pub use error::{Error, ErrorKind, Place, Result};
