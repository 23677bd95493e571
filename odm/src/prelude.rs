//! The names that most programs need: `use odm::prelude::*;`.
//!
//! [`Result`](crate::Result) and [`Error`](crate::Error) are not among them, so that they cannot hide
//! those of the program.

pub use crate::{
    database::Database,
    model::{Cold, DateTime, ObjectId, Ref, Structure as _, Subset},
    query::{Filter, FromRequest as _, Sort, Update},
    repository::Repository,
};
pub use odm_derive::{Database, Document, Embed, Patch, Projection};
// The traits of the same names as the derives.
pub use crate::{
    model::{Document, Embed, Projection},
    query::Patch,
};
