//! Any collection by its name, for programs that know no model: a shell, a server, a tool.
//!
//! The relations of the models are data in the store. So a process without any model writes through [`Collections`] with all that follows:
//! copies, subsets, counts and all other derived fields, references with their delete rules, and validation by the schemas of the models.
//!
//! ```
//! # use odm::derive::examples::*; example(async |shop| {
//! use odm::{Collections, bson::{doc, rawdoc}, mql::{Filter, Update}};
//!
//! // This knows no model, and could be another program: `Collections::open(store)`.
//! let collections = Collections::of(&shop);
//! let (products, reviews) = (collections.collection("products"), collections.collection("reviews"));
//!
//! let review = rawdoc! { "_id": 9_i64, "product": 1_i64, "stars": 1, "text": "Creaks", "published": odm::bson::DateTime::now() };
//! reviews.insert([review]).await?;
//!
//! // The product counts its reviews, and shows the newest of them.
//! let shelf = products.find(Filter::parse(&doc! { "_id": 1 })?).one().await?.unwrap();
//! assert_eq!(shelf.get_i64("review_count").unwrap(), 4);
//! let newest = shelf.get_array("reviews").unwrap().get_document(0).unwrap();
//! assert_eq!(newest.get_str("text").unwrap(), "Creaks");
//!
//! // A derived field cannot be made wrong, and a reference cannot dangle.
//! let lie = Update::parse(&doc! { "$set": { "review_count": 1_000_000 } }, &[])?;
//! assert!(products.update(Filter::default(), lie).await.unwrap_err().to_string().starts_with("derived field"));
//! let other = Update::parse(&doc! { "$set": { "product": 77_i64 } }, &[])?;
//! assert!(reviews.update(Filter::default(), other).await.unwrap_err().to_string().starts_with("dangling reference"));
//! # Ok(()) });
//! ```
//!
//! # What only models know
//!
//! The catalog of the store has relations, schemas, versions, times, sequences and when documents expire. A process without models lacks
//! checks by functions, which only the types of a program have. [`Collections::of`] an open database has the checks of its models, too.
//!
//! A document is read as it is stored, with the empty values of [pending](crate::Database::pending_backfills) fields, as by
//! [`Repository::raw`](crate::Repository::raw). The cold parts of a split document are documents of a collection of their own, which only
//! writes of the whole document change.

mod aggregate;
mod find;
#[doc(hidden)]
pub mod json;
mod manage;
mod retry;
mod rules;
mod snapshot;
mod transaction;
mod transfer;
mod users;
mod views;
mod watch;
mod write;

use std::sync::Arc;

use futures_core::future::BoxFuture;
use odm_mql::{Filter, Pipeline};
use odm_store::{
    Capabilities, CommitTime, CommitWatch, Durability, Error, ErrorKind, Result, Store,
};

pub use crate::catalog::{ValidationRule, View};
pub use aggregate::{AggregateCursor, AggregateDocuments};
pub use find::{DocumentCursor, FindDocuments};
pub use manage::CollectionInfo;

pub use retry::{DoneStatements, Retryable, Statement};
pub use snapshot::CollectionsSnapshot;
pub use transaction::CollectionsTransaction;
pub use watch::{DocumentChanges, DocumentEvent, WatchDocuments};
pub use write::{
    DeleteDocuments, DocumentUpdate, InsertDocuments, UpdateDocuments, WrittenDocuments,
};

#[doc(hidden)]
pub use crate::maintain::CollectionRights;
use crate::{
    catalog::{self, Relations},
    database::{self, Database, OpenOptions},
    repository::{self, Audit, AuditMode, Writes},
    session::{self, ProgramModels, Session},
};

/// All collections of a store by their names.
///
/// It is cheap to clone, and clones share the store. See the [module](self) for an example.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, mql::Filter};
///
/// let collections = Collections::of(&shop);
/// assert_eq!(collections.collection("parts").find(Filter::default()).count().await?, 3);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone)]
pub struct Collections {
    session: Session,
}

impl Collections {
    /// Opens the collections of a store. Nothing is declared in it: collections exist from their first document on.
    ///
    /// # Errors
    ///
    /// `Schema` if a newer version of the library has written the relations of the store.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |_| {
    /// use odm::{Collections, bson::rawdoc};
    ///
    /// let collections = Collections::open(Embedded::memory().await?).await?;
    /// collections.collection("notes").insert([rawdoc! { "_id": 1, "text": "buy milk" }]).await?;
    /// assert_eq!(collections.list().await?[0].name, "notes");
    /// # Ok(()) });
    /// ```
    pub fn open(store: impl Store) -> BoxFuture<'static, Result<Collections>> {
        Self::open_with(store, OpenOptions::default())
    }

    /// Opens the collections of a store with other options, of which those for models have no meaning. The workers that delete expired
    /// documents and refresh deferred fields run as a database's tasks do, if the store has such declarations when it is opened.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |_| {
    /// use odm::{Collections, OpenOptions};
    ///
    /// let options = OpenOptions::default().large_scan(1_000);
    /// let collections = Collections::open_with(Embedded::memory().await?, options).await?;
    /// assert!(collections.list().await?.is_empty());
    /// # Ok(()) });
    /// ```
    pub fn open_with(
        store: impl Store,
        options: OpenOptions,
    ) -> BoxFuture<'static, Result<Collections>> {
        Box::pin(async move {
            session::refuse_inside_transaction(&store)?;
            let catalog = catalog::load(&*store.reader()?).await?;
            let program = ProgramModels {
                database: "",
                version: 0,
                models: Vec::new(),
            };
            let session = Session::new(Arc::new(store), catalog, program, options.warning_limits());
            let session = session.of_any_program();
            if session.store().capabilities().read_only {
                return Ok(Collections { session });
            }
            let expiring = database::start_expiry(&session, options.expiry_interval());
            let refreshing = database::start_outbox(&session, options.refresh_interval()).await?;
            let workers = [expiring, refreshing].into_iter().flatten().collect();
            let session = session.with_workers(workers);
            Ok(Collections { session })
        })
    }

    /// The collections of the store of an open database, with the checks of its models. For a database in a transaction they are in the
    /// transaction, and of one in a snapshot they read the snapshot.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Filter, Update}};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let text = Update::parse(&doc! { "$set": { "qty": "many" } }, &[])?;
    /// assert!(parts.update(Filter::default(), text).await.is_err());
    /// # Ok(()) });
    /// ```
    pub fn of<D: Database>(database: &D) -> Collections {
        Collections {
            session: database.session().of_any_program(),
        }
    }

    /// The collection with a name. It need not exist: a collection without documents is empty.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let notes = Collections::of(&shop).collection("notes");
    /// assert!(notes.find(Filter::default()).await?.is_empty());
    /// # Ok(()) });
    /// ```
    pub fn collection(&self, name: impl Into<String>) -> Collection {
        Collection {
            session: self.session.clone(),
            name: name.into(),
        }
    }

    /// The relations of all databases on the store, of which [`mermaid`](Relations::mermaid) makes a diagram.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let collections = odm::Collections::of(&shop);
    /// assert!(collections.relations().await?.mermaid().contains("products"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn relations(&self) -> Result<Relations> {
        Ok(self.session.current_catalog().await?.relations().clone())
    }

    /// The collections with another durability for their writes and transactions.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::rawdoc, store::Durability};
    ///
    /// let views = Collections::of(&shop).durability(Durability::Eventual).collection("views");
    /// views.insert([rawdoc! { "page": "/" }]).await?; // of which the last may be lost
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn durability(&self, durability: Durability) -> Collections {
        Collections {
            session: self.session.with_durability(durability),
        }
    }

    /// Carries out several writes as one unit, as [`Database::bulk`] does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::{doc, rawdoc}, mql::{Filter, Update}};
    ///
    /// let collections = Collections::of(&shop);
    /// let (parts, orders) = (collections.collection("parts"), collections.collection("orders"));
    /// let taken = Update::parse(&doc! { "$inc": { "qty": -1_i64 } }, &[])?;
    /// let nut = Filter::parse(&doc! { "_id": 2 })?;
    /// let (taken, removed) = collections.bulk((parts.update(nut, taken), orders.delete(Filter::default()))).await?;
    /// assert_eq!((taken.modified, removed.matched), (1, 3));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the first write that fails. Nothing is stored then.
    pub fn bulk<W: Writes>(&self, writes: W) -> BoxFuture<'static, Result<W::Returned>> {
        repository::run_bulk(&self.session, writes)
    }

    /// Compares all derived data with its definitions, as [`Database::audit`] does: by the relations in the store, without any model.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(odm::Collections::of(&shop).audit().with_validation().await?, []);
    /// # Ok(()) });
    /// ```
    pub fn audit(&self) -> Audit {
        Audit::of_models(&self.session, AuditMode::Report)
    }

    /// Repairs the findings of an [`audit`](Collections::audit), as [`Database::repair`] does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let findings = odm::Collections::of(&shop).repair().await?;
    /// assert!(findings.iter().all(|finding| finding.repaired));
    /// # Ok(()) });
    /// ```
    pub fn repair(&self) -> Audit {
        Audit::of_models(&self.session, AuditMode::Repair)
    }

    /// Deletes the documents that have expired, as [`Database::delete_expired`] does: by the declarations in the store, without any model.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # shop.carts.insert(NewCart { customer: "ann".into(), seen: DateTime::from_millis(0) }).await?;
    /// // Carts expire thirty days after they were `seen`.
    /// assert_eq!(odm::Collections::of(&shop).delete_expired().await?, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Database::delete_expired`].
    pub async fn delete_expired(&self) -> Result<u64> {
        database::delete_expired(&self.session).await
    }

    /// Lists the relations that were declared over existing documents and are not computed in all of them, as
    /// [`Database::pending_backfills`] does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert!(odm::Collections::of(&shop).pending_backfills().await?.is_empty());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn pending_backfills(&self) -> Result<Vec<String>> {
        let catalog = self.session.current_catalog().await?;
        Ok(catalog.pending().iter().cloned().collect())
    }

    /// Computes the [pending](Collections::pending_backfills) relations, as [`Database::backfill`] does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(odm::Collections::of(&shop).backfill().await?, []);
    /// # Ok(()) });
    /// ```
    pub fn backfill(&self) -> Audit {
        Audit::of_models(&self.session, AuditMode::Backfill)
    }

    /// Watches the commits in all collections, the library's own left out.
    #[doc(hidden)]
    pub async fn watch_commits(&self, after: Option<CommitTime>) -> Result<CommitWatch> {
        let store = self.session.store();
        session::refuse_inside_transaction(store)?;
        store.watch_commits(after).await
    }

    /// Forgets the commits that no such watch can read any more.
    #[doc(hidden)]
    pub fn forget_commits(&self) {
        self.session.store().forget_commits();
    }

    /// The optional abilities of the store.
    #[doc(hidden)]
    pub fn capabilities(&self) -> Capabilities {
        self.session.store().capabilities()
    }

    /// Makes all commits durable that were made before, unless the store was opened with less.
    #[doc(hidden)]
    pub async fn sync(&self) -> Result<()> {
        self.session.sync().await
    }

    /// Makes all commits durable, and closes the store.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let collections = odm::Collections::of(&shop);
    /// collections.close().await?;
    /// assert!(shop.parts.get(1).await.is_err()); // they share the store
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Database::close`].
    pub async fn close(&self) -> Result<()> {
        self.session.close().await
    }
}

/// One collection of [`Collections`].
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collection, Collections, bson::doc, mql::Filter};
///
/// let parts: Collection = Collections::of(&shop).collection("parts");
/// let nut = parts.find(Filter::parse(&doc! { "name": "nut" })?).one().await?.unwrap();
/// assert_eq!(nut.get_i64("qty").unwrap(), 5);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone)]
pub struct Collection {
    session: Session,
    name: String,
}

impl Collection {
    /// Its name.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let parts = odm::Collections::of(&shop).collection("parts");
    /// assert_eq!(parts.name(), "parts");
    /// # Ok(()) });
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Finds the documents that match a filter, in the order of their `_id`s.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Filter, Projection, Sort}};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let many = Filter::parse(&doc! { "qty": { "$gt": 10 } })?;
    /// let names = Projection::parse(&doc! { "_id": 0, "name": 1 })?;
    /// let found = parts.find(many).sort(Sort::parse(&doc! { "price": -1 })?).project(names).limit(1).await?;
    /// assert_eq!(found[0].get_str("name").unwrap(), "bolt");
    /// # Ok(()) });
    /// ```
    pub fn find(&self, filter: Filter) -> FindDocuments {
        FindDocuments::new(self, filter)
    }

    /// Passes the documents of the collection through the stages of a pipeline.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Pipeline, Variables}};
    ///
    /// let stages = [
    ///     doc! { "$match": { "stars": { "$gte": 3 } } },
    ///     doc! { "$lookup": { "from": "products", "localField": "product", "foreignField": "_id", "as": "product" } },
    ///     doc! { "$unwind": "$product" },
    ///     doc! { "$sortByCount": "$product.name" },
    /// ];
    /// let pipeline = Pipeline::parse(&stages, &Variables::default())?;
    /// let praised = Collections::of(&shop).collection("reviews").aggregate(pipeline).await?;
    /// assert_eq!(praised[0].get_str("_id").unwrap(), "shelf");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// When it is awaited: the errors of the stages, `Limit` if one of them needs too much memory.
    pub fn aggregate(&self, pipeline: Pipeline) -> AggregateDocuments {
        AggregateDocuments::new(self, pipeline)
    }

    /// Compares the derived data of this collection, and of its cold parts, with its definitions.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let products = odm::Collections::of(&shop).collection("products");
    /// assert_eq!(products.audit().await?, []);
    /// # Ok(()) });
    /// ```
    pub fn audit(&self) -> Audit {
        Audit::of_collection(&self.session, &self.name)
    }

    /// Watches the documents that match a filter: awaiting it returns the stream of their changes, which begins then.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let mut changes = Collections::of(&shop).collection("parts").watch(Filter::default()).await?;
    /// shop.parts.update(1).inc(Part::fields().qty, 1).await?;
    /// let change = changes.try_next().await?.expect("the store is open");
    /// assert_eq!(change.after.unwrap().get_i64("qty").unwrap(), 91);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// When it is awaited, the errors of [`Repository::watch`](crate::Repository::watch).
    pub fn watch(&self, filter: Filter) -> WatchDocuments {
        WatchDocuments::new(self, filter)
    }

    /// Stores new documents as one unit. A document without an `_id` gets the next number of its collection where a model declares
    /// `#[id(sequence)]`, and a new `ObjectId` elsewhere. Awaiting it returns the `_id`s, in the order of the documents.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::rawdoc};
    ///
    /// let notes = Collections::of(&shop).collection("notes");
    /// let written = notes.insert([rawdoc! { "text": "buy milk" }, rawdoc! { "_id": 2, "text": "call Ann" }]).await?;
    /// assert_eq!(written.len(), 2);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Repository::insert`](crate::Repository::insert), for any of them. Nothing is stored then.
    pub fn insert(
        &self,
        documents: impl IntoIterator<Item = bson::RawDocumentBuf>,
    ) -> InsertDocuments {
        InsertDocuments::new(self, documents.into_iter().collect())
    }

    /// Changes the documents that match a filter: all of them, or the [first](UpdateDocuments::first) one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::{doc, rawdoc}, mql::{Filter, Update, UpdatePipeline, Variables}};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let sale = Update::parse(&doc! { "$mul": { "price": 0.5 } }, &[])?;
    /// assert_eq!(parts.update(Filter::default(), sale).await?.modified, 3);
    ///
    /// // A whole document takes the place of the first that matches.
    /// let nut = Filter::parse(&doc! { "name": "nut" })?;
    /// let other = rawdoc! { "name": "nut", "qty": 1_i64, "price": 0.1, "tags": [] };
    /// parts.update(nut, other).first().await?;
    /// # assert_eq!(shop.parts.get(2).await?.qty, 1);
    ///
    /// // The stages of a pipeline compute values of others.
    /// let stages = [doc! { "$set": { "note": { "$concat": ["so many: ", { "$toString": "$qty" }] } } }];
    /// let noted = UpdatePipeline::parse(&stages, &Variables::default())?;
    /// parts.update(Filter::default(), noted).await?;
    /// assert_eq!(shop.parts.get(1).await?.note.unwrap(), "so many: 90");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if the change names a derived field, a version or the time of a write; else the errors of
    /// [`Repository::update_where`](crate::Repository::update_where) and [`Repository::replace`](crate::Repository::replace).
    pub fn update(&self, filter: Filter, change: impl Into<DocumentUpdate>) -> UpdateDocuments {
        UpdateDocuments::new(self, filter, change.into())
    }

    /// Removes the documents that match a filter, by the delete rules: all of them, or the [first](DeleteDocuments::first) one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// // A part of a product cannot be removed.
    /// let refused = Collections::of(&shop).collection("parts").delete(Filter::default()).await;
    /// assert!(refused.unwrap_err().is_restricted());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Repository::delete_where`](crate::Repository::delete_where).
    pub fn delete(&self, filter: Filter) -> DeleteDocuments {
        DeleteDocuments::new(self, filter)
    }

    /// Refuses a write to a collection of the library.
    fn check_writable(&self) -> Result<()> {
        if !catalog::is_own(&self.name) {
            return Ok(());
        }
        let message = format!(
            "collection `{}` is the library's own: write to another one",
            self.name
        );
        Err(Error::new(ErrorKind::InvalidQuery, message).at(&self.name, None, None))
    }
}
