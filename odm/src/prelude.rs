//! The names that most programs need: `use odm::prelude::*;`.
//!
//! [`Result`](crate::Result) and [`Error`](crate::Error) are not included, so that they cannot hide the types of the same names in a
//! program.
//!
//! ```
//! use odm::{Embedded, prelude::*};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[document(collection = "parts")]
//! struct Part {
//!     #[serde(rename = "_id")]
//!     id: ObjectId,
//!     name: String,
//! }
//!
//! #[derive(Database)]
//! #[database(name = "shop", version = 1)]
//! struct Shop {
//!     parts: Repository<Part>,
//! }
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let shop = Shop::open(Embedded::memory().await?).await?;
//! shop.parts.insert(Part { id: ObjectId::new(), name: "bolt".into() }).await?;
//! assert!(shop.parts.find(Part::fields().name.eq("bolt")).exists().await?);
//! # Ok::<_, odm::Error>(()) }).unwrap();
//! ```

pub use crate::{
    database::Database,
    model::{Ancestors, Cold, DateTime, ObjectId, Ref, Structure as _, Subset},
    query::{Filter, FromRequest as _, Sort, Update},
    repository::Repository,
};
#[cfg(not(doc))]
pub use odm_derive::{Database, Document, Embed, Patch, Projection};
// The same derives, whose pages list their attributes.
#[cfg(doc)]
#[doc(inline)]
pub use odm_derive::{
    DatabasePage as Database, DocumentPage as Document, EmbedPage as Embed, PatchPage as Patch,
    ProjectionPage as Projection,
};
// The traits of the same names as the derives.
pub use crate::{
    model::{Document, Embed, Projection},
    query::Patch,
};
