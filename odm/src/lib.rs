//! A typed object-document mapper that keeps derived data right by itself.

#![deny(missing_docs)]

pub mod mql;

pub use bson;
