//! Repositories: one for each collection, and the builders of their operations.
//!
//! A builder does nothing until it is awaited. Unless its documentation says otherwise, a write is
//! one unit: when it returns, all of it is stored, with everything that is derived from it; when it fails, nothing is stored. Dropping its
//! future either prevents it or lets all of it happen.
//!
//! ```
//! # use odm::derive::examples::*; example(async |shop| {
//! let (part, product) = (Part::fields(), Product::fields());
//! shop.parts.update(1).inc(part.qty, -4).await?;
//! let scarce = shop.parts.find(part.qty.lt(100)).sort(part.name.asc()).limit(10).await?;
//! assert_eq!((scarce[0].name.as_str(), scarce[0].qty), ("bolt", 86));
//!
//! let rows: Vec<(Product, Vec<Part>)> = shop.products.find(product.name.eq("shelf")).join(product.parts).await?;
//! assert_eq!(rows[0].1.len(), 2);
//! # Ok(()) });
//! ```
//!
//! | to | see |
//! |---|---|
//! | read by `_id`, find, follow references, write, watch | [`Repository`] |
//! | sort, page, count, stream, join, aggregate the documents found | [`Query`] |
//! | change fields | [`Update`](crate::Update) |
//! | look up a whole graph by few requests | [`Query::join`], [`Follow`], [`Referrers`] |
//! | write several documents as one unit | [`Database::bulk`](crate::Database::bulk) |
//!
//! # Dry runs
//!
//! `plan()` on the builder of a write executes the write, rolls it back, and returns the changes that it would make, as a
//! [`WritePlan`](crate::plan::WritePlan). It fails with the same errors as the write. It blocks other writers meanwhile, and cannot be
//! called inside a transaction.
//!
//! ```
//! # use odm::derive::examples::*; example(async |shop| {
//! let plan = shop.products.delete(3).plan().await?;
//! println!("{plan}");
//! assert!(shop.products.get(3).await.is_ok());
//! # Ok(()) });
//! ```
//!
//! # The shop of the examples
//!
//! The examples of this crate use these models. The shop has the parts 1 bolt, 2 nut and 3 washer, the products 1 shelf, 2 lamp and 3
//! table, and a few reviews and orders.
//!
//! ```
#![doc = include_str!("derive/examples/models.rs")]
//! ```

mod audit;
mod bulk;
mod children;
mod delete;
mod find;
mod get;
mod group;
mod insert;
mod join;
mod load;
mod page;
mod prepared;
mod raw;
mod read;
mod replace;
mod returning;
mod rows;
mod semi_join;
mod stream;
mod update;
mod upsert;
mod watch;
mod write;

/// Implements `Debug` by some fields of a builder. It needs no `Debug` of the model.
macro_rules! impl_debug {
    ($builder:ident<$model:ident $(, $type:ident)*> $(: $($field:ident),+)?) => {
        impl<$model: crate::model::Document $(, $type)*> std::fmt::Debug
            for $builder<$model $(, $type)*>
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($builder))
                    .field("collection", &$model::COLLECTION)
                    $($(.field(stringify!($field), &self.$field))+)?
                    .finish_non_exhaustive()
            }
        }
    };
}

use impl_debug;
use std::{fmt, marker::PhantomData};

pub(crate) use audit::AuditMode;
pub use audit::{Audit, Progress};
pub use bulk::Writes;
pub(crate) use bulk::run as run_bulk;
#[doc(hidden)]
pub use children::{Any, AtMostOne};
pub use children::{ChildCardinality, OfParent};
pub use delete::{Delete, DeleteWhere};
pub use find::Query;
pub use get::{Fetch, Get, Refs};
pub use group::{Aggregates, GroupBy, GroupKeys, Groups, Unwound};
#[doc(hidden)]
pub use group::{ComputedOf, KeysOf};
pub use insert::{Insert, InsertMany};
pub use join::{Follow, Join, Joins, Referrers};
#[doc(hidden)]
pub use join::{JoinFrom, Resolve};
pub use load::Load;
pub use page::{Cursor, Page};
#[doc(hidden)]
pub use prepared::PreparedWrite;
pub use prepared::WriteBuilder;
pub use raw::{RawRepository, RawWrite, RawWriteMany};
pub use replace::{Replace, UpsertMany};
pub use returning::Returning;
pub use stream::DocumentStream;
pub use update::{MatchingDocuments, OneDocument, UpdateResult};
pub use upsert::UpsertBy;
pub(crate) use watch::BUFFER as WATCH_BUFFER;
pub use watch::{ChangeEvent, ChangeStream, Watch};

use odm_store::{self as store, Durability};

use crate::{
    model::{Document, Model},
    query::Filter,
    session::Session,
};

/// A repository: the documents of one collection.
///
/// It is a field of a [`Database`](crate::Database), and is cheap to clone.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let bolt = shop.parts.get(1).await?;
/// let scarce = shop.parts.find(Part::fields().qty.lt(10)).await?;
/// assert_eq!((bolt.name.as_str(), scarce.len()), ("bolt", 1));
/// # Ok(()) });
/// ```
pub struct Repository<M> {
    session: Session,
    model: PhantomData<fn() -> M>,
}

impl<M> Clone for Repository<M> {
    fn clone(&self) -> Self {
        Repository {
            session: self.session.clone(),
            model: PhantomData,
        }
    }
}

impl<M: Document> fmt::Debug for Repository<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Repository({})", M::COLLECTION)
    }
}

impl<M> Repository<M> {
    pub(crate) fn new(session: Session) -> Self {
        Repository {
            session,
            model: PhantomData,
        }
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }
}

impl<M: Document> Repository<M> {
    /// Returns the repository with another durability for its writes. In a transaction, the
    /// durability of the transaction applies.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::store::Durability;
    ///
    /// // Of a counter that nobody misses after a power cut, the write need not wait for the disk.
    /// let parts = shop.parts.durability(Durability::Eventual);
    /// parts.update(1).inc(Part::fields().qty, 1).await?;
    /// # assert_eq!(shop.parts.get(1).await?.qty, 91);
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn durability(&self, durability: Durability) -> Self {
        Repository::new(self.session.with_durability(durability))
    }

    /// Lists the documents of the collection, and the cold parts, that do not conform to its validation
    /// today: a stream of findings with their progress, and `Problem::Invalid` with the path and the rule
    /// for each violation. Nothing is written.
    ///
    /// A document that was stored before the validation was declared, or under the level `moderate` or the
    /// action `warn`, is not checked until it changes. To find the documents that a stricter model would refuse,
    /// open it with the action
    /// `warn` and call this. All validators in force are checked, also the ones that other databases declare on the collection. Under the
    /// level `off` there is none.
    ///
    /// ```
    /// # use odm::{Embedded, Problem, derive::examples::Part};
    /// # mod strict {
    /// #     use odm::prelude::*; use serde::{Deserialize, Serialize};
    /// #     #[derive(Serialize, Deserialize, Document)] #[document(collection = "parts", validation(action = "warn"))]
    /// #     pub struct Part { #[serde(rename = "_id")] pub id: i64, #[validate(max = 100)] pub qty: i64 }
    /// #     #[derive(Database)] #[database(name = "shop", version = 1)] pub struct Shop { pub parts: Repository<Part> }
    /// # }
    /// # use odm::prelude::*; use strict::*;
    /// # odm::derive::examples::example(async |_| {
    /// # let shop = Shop::open(Embedded::memory().await?).await?;
    /// # shop.parts.insert(strict::Part { id: 1, qty: 300 }).await?;
    /// // The model says `#[validate(max = 100)]` since today, with the action `warn`. What would `error` refuse?
    /// let mut findings = shop.parts.validate();
    /// while let Some(finding) = findings.try_next().await? {
    ///     if let Problem::Invalid(violation) = &finding.problem {
    ///         assert_eq!((&*violation.path, &*violation.rule), ("qty", "maximum"));
    ///     }
    /// }
    /// # Ok(()) });
    /// ```
    pub fn validate(&self) -> Audit {
        Audit::of_validation(&self.session, M::COLLECTION)
    }

    /// Watches the documents that match a filter: a stream of the changes that are committed from now on, in the
    /// order of commits, with the document before and after it. A change counts if the document matches before or
    /// after it. A commit is one change for each document, however often it wrote the document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut changes = shop.parts.watch(Part::fields().qty.lt(10)).await?;
    /// shop.parts.update(1).set(Part::fields().qty, 3).await?;
    ///
    /// let change = changes.try_next().await?.expect("the store is open");
    /// let (before, after) = (change.before.unwrap(), change.after.unwrap());
    /// assert_eq!((change.id, before.qty, after.qty), (1, 90, 3));
    /// # Ok(()) });
    /// ```
    ///
    /// The stream includes all writes through the library to this store in this process, also from other databases, and their effects, such
    /// as a refreshed copy or a cascading delete; see [`Cause`](odm_store::Cause). It does not include changes by the steps of a migration.
    /// A change comes when its commit is visible, and as durable as its write asked; a change that is rolled back never comes. A read after
    /// the call has returned sees all commits from before the stream begins: a program that reads a copy then, and applies the changes to
    /// it in their order, has the stored state.
    ///
    /// A split document is shown without its cold parts, as `find` returns it. A change of a cold part alone is a
    /// change whose `before` and `after` are equal.
    ///
    /// The call waits for the writes that are under way, a transaction included. A reader that falls behind by more commits than
    /// [`buffer`](Watch::buffer) gets an error that says how many are missed. While a collection is watched, each write to it reads the
    /// documents that it changes, as a write with effects does.
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if the store cannot be watched, or if the filter is invalid or names a field of a cold part; `OutsideTransaction`
    /// inside a transaction or a snapshot; `Closed` if the store is closed.
    pub fn watch(&self, filter: Filter<M>) -> Watch<M> {
        Watch::new(self.session.clone(), filter)
    }

    /// Returns the documents as BSON: to read them as they are stored, and to write documents that no value of the model can represent.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // A report that is to show every field, also those that this program does not know.
    /// let bolt = shop.parts.raw().get(1).await?;
    /// assert_eq!(bolt.get_str("name").unwrap(), "bolt");
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn raw(&self) -> RawRepository<M> {
        RawRepository::new(self.clone())
    }

    /// Returns the description of the model.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.parts.model().collection, "parts");
    /// # Ok(()) });
    /// ```
    pub fn model(&self) -> &'static Model {
        M::model()
    }
}

/// A query of a whole collection.
fn query<M: Document>(filter: odm_mql::Filter) -> store::Find {
    store::Find {
        collection: M::COLLECTION.to_owned(),
        filter,
        ..store::Find::default()
    }
}
