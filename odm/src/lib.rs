//! A typed object-document mapper that keeps derived data consistent automatically.
//!
//! A program derives [`Document`] on its structs, states how they are related, and lists them in a
//! [`Database`]. It then has a [`Repository`] for each, over a [store](Embedded) that is a file and
//! needs no server.
//!
//! ```
//! use odm::{Embedded, prelude::*};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, Document)]
//! #[document(collection = "publishers")]
//! struct Publisher {
//!     #[serde(rename = "_id")]
//!     id: String,
//!     name: String,
//! }
//!
//! #[derive(Serialize, Deserialize, Document)]
//! #[document(collection = "books", index(fields = "publisher_id, -published"))]
//! struct Book {
//!     #[serde(rename = "_id")]
//!     id: i64,
//!     title: String,
//!     published: DateTime,
//!     #[reference(parent)]
//!     publisher_id: Ref<Publisher>,
//! }
//!
//! #[derive(Debug, Database)]
//! #[database(name = "library", version = 1)]
//! struct Library {
//!     publishers: Repository<Publisher>,
//!     books: Repository<Book>,
//! }
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! let library = Library::open(Embedded::memory().await?).await?; // or Embedded::open("library.odm")
//!
//! let oreilly = Publisher { id: "oreilly".into(), name: "O'Reilly Media".into() };
//! let oreilly = library.publishers.insert(oreilly).await?;
//! let guide = Book {
//!     id: 123456789,
//!     title: "MongoDB: The Definitive Guide".into(),
//!     published: "2010-09-24".parse()?,
//!     publisher_id: Ref::from(&oreilly),
//! };
//! library.books.insert(guide).await?;
//!
//! let newest = library.books.of(&oreilly).sort(Book::fields().published.desc()).limit(10).await?;
//! assert_eq!(newest.len(), 1);
//!
//! let error = library.publishers.delete("oreilly").await.unwrap_err();
//! assert!(error.is_restricted());
//! # Ok::<_, odm::Error>(()) }).unwrap();
//! ```
//!
//! # Where to look
//!
//! The examples of all pages use one shop, whose models are at [`repository`].
//!
//! - Attributes of models: the derives [`Document`], [`Embed`], [`Projection`], [`Database`].
//! - Operations on a collection: [`Repository`].
//! - Filters, sorts and updates, made of fields: [`Field`](model::Field), [`query`].
//! - Joins: [`Query::join`](repository::Query::join).
//! - Transactions: [`Database::transaction`].
//! - Changes as they are committed: [`Repository::watch`].
//! - Checks and repairs of derived data: [`Database::audit`], [`Database::repair`].
//! - Relations of several programs on one store: [`Database::catalog`], [`Database::backfill`].
//! - The store, its settings and its guarantees: [`store::embedded`].
//! - The cost of an operation: [`measure`](fn@measure), [`assert_queries!`]; its events and warnings:
//!   [`OpenOptions::slow_operation`].

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
#![warn(missing_debug_implementations)]
// For arithmetic on times and on numbers that users give or documents store: see `clippy.toml`.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

// The derives use this name of the crate, also for the models of the examples.
#[cfg(feature = "__examples")]
extern crate self as odm;

mod backoff;
mod catalog;
pub mod collections;
mod database;
#[doc(hidden)]
#[allow(
    missing_debug_implementations,
    reason = "the types only guide generated code"
)]
pub mod derive;
mod maintain;
mod measure;
pub mod migration;
#[allow(missing_debug_implementations, reason = "most types are empty markers")]
pub mod model;
pub mod plan;
pub mod prelude;
pub mod query;
pub mod repository;
mod session;
mod staged;
pub mod store;
mod trace;

pub use catalog::Relations;
pub use collections::{Collection, Collections};
pub use database::{
    CopyTo, Export, Import, ImportFiles, OpenOptions, TransactionGuard, TransferProgress,
};
pub use maintain::{DeferredRefreshes, DerivedKind, FailedRefresh, Finding, Problem};
pub use measure::measure;
// The expansion of `assert_queries!` calls it.
#[doc(hidden)]
pub use measure::measured;
pub use model::{Ancestors, Cold, DateTime, ObjectId, Public, Ref, Subset, native};
pub use odm_embedded::{
    Backup, BackupProgress, CollectionSize, Compacted, Embedded, IndexBuild, IndexSize,
    ReadOnlyStore, Salvaged, StoreSize,
};
#[cfg(feature = "mongodb")]
#[cfg_attr(docsrs, doc(cfg(feature = "mongodb")))]
pub use odm_mongodb::MongoDb;
#[doc(inline)]
pub use odm_mql as mql;
pub use odm_store::{Error, ErrorKind, Location, Result, bson};
pub use prelude::{Database, Document, Embed, Patch, Projection};
pub use query::{ETag, Filter, Sort, Update, fold_case, present, words};
pub use repository::{Audit, Progress, Repository};
