//! Migrations: steps that lead the stored documents from one version of the models to the next.
//!
//! A model changes after documents have been stored. If the new model can read them as they are, as after a new `Option`, it needs no step.
//! For all other changes a database lists steps, each for the version that it leads to:
//!
//! ```
//! # use odm::{Embedded, prelude::*}; use serde::{Deserialize, Serialize};
//! use odm::migration::{Migrations, Step};
//!
//! #[derive(Debug, Serialize, Deserialize, Document)]
//! #[document(collection = "parts")]
//! struct Part {
//!     #[serde(rename = "_id")]
//!     id: i64,
//!     ratings: u32,
//!     cents: i64,
//! }
//!
//! #[derive(Database)]
//! #[database(name = "shop", version = 3, migrations = steps)]
//! struct Shop {
//!     parts: Repository<Part>,
//! }
//!
//! fn steps() -> Migrations {
//!     Migrations::new()
//!         .to(2, [Step::rename("parts", "votes", "ratings")])
//!         .to(3, [
//!             Step::change("parts", "price", |euros: f64| (euros * 100.0).round() as i64),
//!             Step::rename("parts", "price", "cents"),
//!         ])
//! }
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! # #[derive(Debug, Serialize, Deserialize, Document)] #[document(collection = "parts")]
//! # struct OldPart { #[serde(rename = "_id")] id: i64, votes: u32, price: f64 }
//! # #[derive(Database)] #[database(name = "shop", version = 1)] struct Old { parts: Repository<OldPart> }
//! # let store = Embedded::memory().await?;
//! # Old::open(store.clone()).await?.parts.insert(OldPart { id: 1, votes: 3, price: 0.25 }).await?;
//! let shop = Shop::open(store).await?; // a store of version 1, or 2, or a new one
//! # let part = shop.parts.get(1).await?;
//! # assert_eq!((part.ratings, part.cents), (3, 25));
//! # Ok::<_, odm::Error>(()) }).unwrap();
//! ```
//!
//! # What is guaranteed
//!
//! A failed
//! [`open`](crate::Database::open) has changed nothing, and the program of the version before goes on. The trial comes before the first
//! document is changed: it runs each step on each document, reads the results by the new models, and checks the keys of unique indexes.
//! [`check`](crate::Database::check) runs the same trial, and lists each [`Failure`]. From the trial on the collections of the database
//! accept no other writes: writes there fail with an error of kind [`Migrating`](crate::ErrorKind::Migrating), which is retryable. A trial
//! holds no documents in memory. It compares keys by their hashes, in up to 32 MiB; every further four million keys take another round
//! through the documents.
//!
//! Then the steps run, in their order, each in units of a few
//! hundred documents. A unit records how far it has come, so that after a crash the next open goes on there, and
//! each document is changed once. Programs of older versions get an error of kind
//! [`Schema`](crate::ErrorKind::Schema) from the first unit on.
//!
//! Steps follow no relations, and nothing is validated between them. When all are done, the fields that are derived from the changed ones
//! are recomputed before `open` returns. A step on a field that another database on the store declares as well is refused.
//!
//! # Functions in steps
//!
//! The functions run in the trial, and again within the unit, while other writes wait: they only compute, and neither wait nor call
//! the database. They run more than once on a document, so they must be deterministic, and have no side effects. A panic in one is an error
//! of kind [`FailedMigration`](crate::ErrorKind::FailedMigration).
//!
//! A step names collections and fields by their stored names, and not by the models, which go on changing.

mod beside;
mod changes;
mod failure;
mod plan;
mod readable;
mod run;
mod step;
mod trial;

use std::{collections::BTreeMap, fmt};

pub use crate::catalog::{FieldChange, FieldChangeKind};
pub(crate) use beside::stage;
pub use changes::SchemaChanges;
pub use failure::Failure;
pub(crate) use failure::Failures;
pub(crate) use plan::Plan;
pub(crate) use readable::with_changed_models;
pub(crate) use run::{begin, run};
pub use step::Step;
pub(crate) use trial::Trial;

/// The steps that lead from each version of a database to the next; see the [module](self).
///
/// ```
/// use odm::migration::{Migrations, Step};
///
/// // #[database(name = "shop", version = 3, migrations = steps)]
/// fn steps() -> Migrations {
///     Migrations::new()
///         .to(2, [Step::rename("parts", "votes", "ratings")])
///         .to(3, [Step::add("parts", "tags", ["new"]), Step::remove("parts", "color")])
/// }
/// # odm::derive::examples::migrated(
/// #     odm::bson::doc! { "_id": 1_i64, "votes": 3, "color": "red" }, steps(),
/// #     odm::bson::doc! { "_id": 1_i64, "ratings": 3, "tags": ["new"] },
/// # );
/// ```
#[derive(Debug, Clone, Default)]
pub struct Migrations {
    versions: BTreeMap<u32, Vec<Step>>,
}

impl Migrations {
    /// Makes an empty list.
    ///
    /// ```
    /// use odm::migration::Migrations;
    ///
    /// let steps = Migrations::new(); // for a database of version 1
    /// # odm::derive::examples::migrated(
    /// #     odm::bson::doc! { "_id": 1_i64 }, steps, odm::bson::doc! { "_id": 1_i64 },
    /// # );
    /// ```
    pub fn new() -> Self {
        Migrations::default()
    }

    /// Adds steps that lead to a version from the one before it, after the steps that lead there already.
    ///
    /// Keep the steps of older versions as long as there are stores of these.
    ///
    /// ```
    /// use odm::migration::{Migrations, Step};
    ///
    /// // Version 2 was released with the first step, version 3 with two more.
    /// let steps = Migrations::new()
    ///     .to(2, [Step::rename("parts", "votes", "ratings")])
    ///     .to(3, [Step::remove("parts", "color"), Step::add("parts", "qty", 0_i64)]);
    /// # odm::derive::examples::migrated(
    /// #     odm::bson::doc! { "_id": 1_i64, "votes": 3, "color": "red" }, steps,
    /// #     odm::bson::doc! { "_id": 1_i64, "ratings": 3, "qty": 0_i64 },
    /// # );
    /// ```
    #[must_use]
    pub fn to(mut self, version: u32, steps: impl IntoIterator<Item = Step>) -> Self {
        self.versions.entry(version).or_default().extend(steps);
        self
    }

    /// The steps after one version, up to another, each with the version that it leads to.
    fn between(&self, from: u32, to: u32) -> impl Iterator<Item = (u32, &Step)> {
        let versions = self.versions.iter();
        let versions = versions.filter(move |&(&version, _)| version > from && version <= to);
        versions.flat_map(|(version, steps)| steps.iter().map(|step| (*version, step)))
    }

    /// The last version that steps lead to.
    fn last(&self) -> Option<u32> {
        self.versions.keys().next_back().copied()
    }
}

/// The progress of the migration of a database.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{OpenOptions, migration::MigrationProgress};
///
/// let report = |progress: &MigrationProgress| println!("{} of {}: {}", progress.position, progress.steps, progress.step);
/// let shop = Shop::open_with(Embedded::memory().await?, OpenOptions::default().on_progress(report)).await?;
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigrationProgress {
    /// The step, with the version that it leads to; in the end, `derived fields`.
    pub step: String,
    /// Its position among the steps of the migration, from 1 on.
    pub position: usize,
    /// The number of steps.
    pub steps: usize,
    /// The documents that the step has processed since the database was opened.
    pub documents: u64,
}

impl MigrationProgress {
    /// The progress of the derived fields, after so many steps.
    pub(crate) fn of_derived(steps: usize, documents: u64) -> Self {
        MigrationProgress {
            step: "derived fields".to_owned(),
            position: steps + 1,
            steps: steps + 1,
            documents,
        }
    }
}

impl fmt::Display for MigrationProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MigrationProgress {
            step,
            position,
            steps,
            documents,
        } = self;
        write!(
            f,
            "step {position} of {steps}, {step}: {documents} documents"
        )
    }
}
