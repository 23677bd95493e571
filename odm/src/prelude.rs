//! What a program that uses the library needs: `use odm::prelude::*;`.
//!
//! [`Result`](crate::Result) and [`Error`](crate::Error) are not in it, so that they cannot hide a
//! program's own.

pub use crate::{
    database::Database,
    model::{Cold, DateTime, ObjectId, Ref, Structure as _, Subset},
    query::{Filter, Sort, Update},
    repository::Repository,
};
pub use odm_derive::{Database, Document, Embed, Projection};
// The traits of the same names as the derives.
pub use crate::model::{Document, Embed, Projection};
pub use futures_util::{StreamExt as _, TryStreamExt as _};
