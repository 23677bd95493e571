//! The database: all repositories of an application, over one store.

mod expiry;
#[cfg(test)]
mod faults;
mod field;
mod open;
mod outbox;
mod snapshot;
mod transaction;
mod transfer;

pub(crate) use expiry::{delete_expired, start as start_expiry};
#[doc(hidden)]
pub use field::RepositoryField;
pub use open::OpenOptions;
pub(crate) use open::lock_of;
pub(crate) use outbox::start as start_outbox;
use tokio::io::{AsyncBufRead, AsyncWrite};
pub use transaction::{Repeatable, TransactionGuard};
pub(crate) use transfer::{Canonical, ExportedDocument, TransferScope};
pub use transfer::{CopyTo, Export, Import, ImportFiles, TransferProgress};

use futures_core::future::BoxFuture;
use odm_store::{Durability, Error, Result, Store};

use crate::{
    catalog::{self, Declaration, Relations},
    maintain::DeferredRefreshes,
    migration::{Migrations, SchemaChanges},
    model::Model,
    repository::{self, Audit, AuditMode, Writes},
    session::Session,
};

/// All repositories of an application, over one store.
///
/// Derive it on a struct with a field for each collection:
///
/// ```
/// # use odm::derive::examples::*; example(async |_| {
/// #[derive(Database)]
/// #[database(name = "stock", version = 1)]
/// struct Stock {
///     parts: Repository<Part>,
/// }
/// assert_eq!((Stock::NAME, Stock::VERSION), ("stock", 1));
/// # Ok(()) });
/// ```
///
/// It is cheap to clone, and clones share the store.
pub trait Database: Clone + Send + Sync + Sized + 'static {
    /// The name of the database in the catalog of the store.
    const NAME: &'static str;
    /// The version of the models.
    const VERSION: u32;

    #[doc(hidden)]
    fn models() -> Vec<&'static Model>;
    #[doc(hidden)]
    fn bind(session: &Session) -> Self;
    #[doc(hidden)]
    fn session(&self) -> &Session;

    /// The steps that lead the stored documents from one version to the next, as
    /// `#[database(migrations = ..)]` names them.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// println!("{:?}", Shop::migrations());
    /// # Ok(()) });
    /// ```
    fn migrations() -> Migrations {
        Migrations::new()
    }

    /// Opens the database on a store: checks how the models fit together, runs the [migrations](crate::migration) to
    /// its version, creates missing collections and indexes, and removes the indexes that databases have declared on the store, and that
    /// the newest version of none of them declares any more.
    ///
    /// An index whose declaration has changed is built beside the old one, which stays in force until
    /// it is complete. To remove or change an index, increase the version of the database.
    ///
    /// A program of an older version can be opened beside a newer one that only adds optional fields,
    /// relations and indexes that are not unique. It follows the declarations of the newer one. Beside any other newer program it fails to
    /// open, and its writes fail from the moment at which the newer one is opened.
    ///
    /// A failed `open` has changed nothing: each operation that can fail is [tried](crate::migration) before the first write.
    ///
    /// # Errors
    ///
    /// `Schema` if two models share a collection, if models changed without a new version, if a newer version has been opened on the store
    /// that changes models of this one, if another database declares a field or an index differently, or an index of that name exists that
    /// no database declares, or if documents could not be read by models that have changed; `DuplicateKey` if a unique index cannot be
    /// built, since two documents have the same key. The indexes are then as before. `FailedMigration` if a step fails on a document.
    /// `Migrating` if another program withdraws the migration or migrates.
    ///
    /// # New derived fields
    ///
    /// A derived field that is declared over existing documents is [pending](Database::pending_backfills), and a
    /// `tracing` event under the target `odm` names it. A pending field reads as its empty value: a subset as empty, a count and a version
    /// as 0, an `Option` as `None`. A field without an empty value, such as a copy that is a
    /// `String`, is computed in all documents before `open` returns; [`OpenOptions::refuse_backfill`] makes `open` fail instead.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |_| {
    /// let shop = Shop::open(Embedded::memory().await?).await?; // or Embedded::open("shop.odm")
    /// # Ok(()) });
    /// ```
    fn open(store: impl Store) -> BoxFuture<'static, Result<Self>> {
        Self::open_with(store, OpenOptions::default())
    }

    /// Opens the database on a store as [`open`](Database::open) does, with other options.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // Each operation that reads more than a thousand documents without an index is a warning.
    /// let options = odm::OpenOptions::default().large_scan(1_000);
    /// let shop = Shop::open_with(Embedded::memory().await?, options).await?;
    /// # Ok(()) });
    /// ```
    fn open_with(store: impl Store, options: OpenOptions) -> BoxFuture<'static, Result<Self>> {
        Box::pin(open::database(store, options))
    }

    /// Compares the models with the stored state of the database, and returns the changes that [`open`](Database::open) would make, with
    /// the documents for which it would [fail](SchemaChanges::failures): it runs the steps on all documents, in memory. Nothing is written.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let changes = Shop::check(&Embedded::memory().await?).await?; // what would a deployment change?
    /// assert_eq!((changes.from, changes.to), (None, 1));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of kind `Schema` that [`open`](Database::open) would return on every store, since the models or steps are invalid.
    fn check(store: &impl Store) -> impl Future<Output = Result<SchemaChanges>> + Send {
        async move {
            let models = Self::models();
            let declaration = Declaration::new(Self::NAME, Self::VERSION, &models)?;
            open::check(store, &declaration, &models, &Self::migrations()).await
        }
    }

    /// Returns the relations that the models declare. [`mermaid`](Relations::mermaid) draws them.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert!(Shop::catalog()?.mermaid().contains("products"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Schema`, as [`open`](Database::open), if the models do not fit together.
    fn catalog() -> Result<Relations> {
        Ok(catalog::declared_by(&Self::models())?.0)
    }

    /// Lists the relations that were declared over existing documents and are not yet computed in all
    /// of them, as `collection.path`. Writes maintain them in the documents that they touch;
    /// [`backfill`](Database::backfill) computes the rest.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// if !shop.pending_backfills().is_empty() { shop.backfill().await?; } // before a service takes requests
    /// # Ok(()) });
    /// ```
    fn pending_backfills(&self) -> Vec<String> {
        let catalog = self.session().catalog();
        catalog.pending().iter().cloned().collect()
    }

    /// Computes the [pending](Database::pending_backfills) relations, as [`repair`](Database::repair)
    /// does, in the collections that hold them. When the stream ends, each is complete, unless it has a finding that could not be repaired.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut backfill = shop.backfill();
    /// while let Some(finding) = backfill.try_next().await? {
    ///     println!("{finding}, after {} of {}", backfill.progress().checked, backfill.progress().total);
    /// }
    /// # Ok(()) });
    /// ```
    fn backfill(&self) -> Audit {
        Audit::of_models(self.session(), AuditMode::Backfill)
    }

    /// Returns the database with another durability for its writes and transactions. The default is
    /// [`Immediate`](Durability::Immediate).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let views = shop.durability(odm::store::Durability::Eventual); // of which the last may be lost
    /// views.parts.update(1).inc(Part::fields().qty, 1).await?;
    /// # Ok(()) });
    /// ```
    ///
    /// A transaction has the durability of the database that it is called on. It applies to all writes in the transaction, also to writes
    /// through a database or a [repository](crate::Repository::durability) with another durability.
    #[must_use]
    fn durability(&self, durability: Durability) -> Self {
        Self::bind(&self.session().with_durability(durability))
    }

    /// Runs the closure in a transaction: all of its writes are stored, or none.
    ///
    /// The closure receives the same repositories, bound to the transaction. It is run again if it has lost a conflict to another
    /// transaction, at the latest when it commits, for up to two minutes and after waits that grow to half a second, and if it runs out of
    /// time, up to four times. It can borrow from its surroundings but not change them, so that each run starts afresh. Nobody waits for
    /// it.
    ///
    /// Reads in it see its own writes, and else the state at its begin. On a serializable store it commits only if nothing that it has read
    /// has changed. An error from
    /// the closure, or from a write in it, rolls all of it back. Inside another transaction's closure it becomes a part of the outer
    /// transaction, and its error aborts that too. Dropping the future rolls back.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // An order is shipped if there are nuts for it, whatever other tasks take meanwhile.
    /// shop.transaction(async |shop| {
    ///     if shop.parts.get(2).await?.qty >= 4 {
    ///         shop.parts.update(2).inc(Part::fields().qty, -4).await?;
    ///         shop.orders.update(1).set(Order::fields().shipped, DateTime::now()).await?;
    ///     }
    ///     Ok(())
    /// }).await?;
    /// assert_eq!(shop.parts.get(2).await?.qty, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the closure;
    /// `TransactionExpired` if it ran into the time limit in every run; `TransactionAborted` if
    /// it returned `Ok` although a write in it had failed, and, [retryable](Error::is_retryable), if conflicting transactions committed
    /// first for two minutes.
    fn transaction<T, F>(&self, run: F) -> impl Future<Output = Result<T>>
    where
        F: AsyncFnOnce(Self) -> Result<T> + Repeatable,
    {
        self.try_transaction(run)
    }

    /// Runs the closure as [`transaction`](Database::transaction) does, with the caller's own error type.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let taken: Result<_, Box<dyn std::error::Error>> = shop.try_transaction(async |shop| {
    ///     let nut = shop.parts.update(2).inc(Part::fields().qty, -2).returning().await?;
    ///     if nut.qty < 4 { Err("keep four nuts".into()) } else { Ok(nut.qty) }
    /// }).await;
    /// assert!(taken.is_err()); // and the update was rolled back
    /// # assert_eq!(shop.parts.get(2).await?.qty, 5);
    /// # Ok(()) });
    /// ```
    fn try_transaction<T, E, F>(&self, run: F) -> impl Future<Output = Result<T, E>>
    where
        E: From<Error>,
        F: AsyncFnOnce(Self) -> Result<T, E> + Repeatable,
    {
        transaction::run(self, run)
    }

    /// Carries out several writes as one unit, without a closure: all of them are stored, or none. It takes the builders of writes
    /// by the repositories of this database, as a tuple of up to eight, a `Vec` or an `Option` of them, possibly nested, and returns their
    /// results.
    ///
    /// They are carried out in their order, each with all its effects before the next, so that a later one sees the writes of an earlier
    /// one. A returned document is in its state after the write that returns it, not after the whole bulk. The unit has the durability of
    /// this database. Unlike a transaction it does not block other writers while the program is at work, and shares a group commit with
    /// other units.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let qty = Part::fields().qty;
    /// let (_, _, nut) = shop.bulk((
    ///     shop.orders.update(1).set(Order::fields().shipped, DateTime::now()),
    ///     shop.parts.update(1).inc(qty, -2),
    ///     shop.parts.update(2).inc(qty, -1).returning(),
    /// )).await?;
    /// assert_eq!(nut.qty, 4);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the first write that fails. Nothing is stored then. `InvalidQuery` if a write is by a repository of another database or
    /// transaction.
    fn bulk<W: Writes>(&self, writes: W) -> BoxFuture<'static, Result<W::Returned>> {
        repository::run_bulk(self.session(), writes)
    }

    /// Runs the closure on one state of the data: all reads in it see the state that is committed when it begins, and no write waits for
    /// it.
    ///
    /// The closure receives the same repositories, which only read. Reads of other tasks by clones of them see the
    /// same state, until the closure returns or its future is dropped; later ones are an error. The closure runs once, and can change
    /// captured variables.
    ///
    /// The store keeps the state as long as the closure runs. On the embedded store this takes no copy and has no limit of time, but pages
    /// that other tasks free meanwhile are not reused before it returns: a file that is written to grows. If earlier states hold more than
    /// 64 MiB of changes in memory, a snapshot first waits for a checkpoint.
    ///
    /// Inside a transaction's closure the snapshot reads the state of the transaction, including writes that it makes meanwhile. A snapshot
    /// inside another one has the state of the outer one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // The number and the list are of one moment.
    /// let (number, newest) = shop.snapshot(async |shop| {
    ///     let newest = shop.orders.all().sort(Order::fields().placed.desc()).limit(2);
    ///     Ok((shop.orders.all().count().await?, newest.await?))
    /// }).await?;
    /// assert_eq!((number, newest.len()), (3, 2));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the closure. In it, a write, a transaction, a `plan`, a repair and a backfill fail with `ReadOnly`, and the snapshot
    /// can be read on. After it, a read fails with `SnapshotEnded`.
    fn snapshot<T, F>(&self, read: F) -> impl Future<Output = Result<T>>
    where
        F: AsyncFnOnce(Self) -> Result<T>,
    {
        self.try_snapshot(read)
    }

    /// Runs the closure as [`snapshot`](Database::snapshot) does, with the caller's own error type.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let report: Result<String, Box<dyn std::error::Error>> = shop.try_snapshot(async |shop| {
    ///     Ok(serde_json::to_string(&shop.parts.all().await?)?)
    /// }).await;
    /// assert!(report.unwrap().contains("washer"));
    /// # Ok(()) });
    /// ```
    fn try_snapshot<T, E, F>(&self, read: F) -> impl Future<Output = Result<T, E>>
    where
        E: From<Error>,
        F: AsyncFnOnce(Self) -> Result<T, E>,
    {
        snapshot::run(self, read)
    }

    /// Writes all documents of the database as lines of canonical extended JSON, in which each value shows its type, for
    /// an [`import`](Database::import) or another program: to a file of `tokio::fs`, the body of an answer, or a
    /// `Vec<u8>`. Awaiting it returns their number; `docs/format.md` describes the lines.
    ///
    /// Documents are whole, with their cold parts and their derived fields, and come after the documents that they refer to, as far as
    /// these do not refer back. All are read from the state that is committed when it begins, while others write on, as in a
    /// [`snapshot`](Database::snapshot). It keeps a portion of about 1 MiB in memory, and the `_id`s of documents that are written early
    /// because documents in a cycle of collections refer to them. The writer is flushed at the end, and not shut down. A dropped future can
    /// leave a part of a line.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut lines = Vec::new();
    /// let number = shop.export(&mut lines).on_progress(|progress| println!("{progress:?}")).await?;
    /// assert_eq!(number, 14);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Io` if the writer fails; `Encode` for a document that an import could not read back: if it is nested over 100 levels deep, or has a
    /// name that is a type of extended JSON, such as `$date`.
    fn export<'w>(&self, writer: impl AsyncWrite + Unpin + Send + 'w) -> Export<'w> {
        Export::new(self.session(), TransferScope::of::<Self>(), writer)
    }

    /// Stores the documents of an [`export`](Database::export) of this version of the database, in a database that has none of them.
    /// Awaiting it returns their number.
    ///
    /// They are written as by an insert: validated, with their references checked, their derived fields computed, and all effects. But they
    /// keep their versions, the times of `#[created_at]` and `#[updated_at]`, and copies with `freeze`. The sequences of `#[id(sequence)]`
    /// go on where they were. The stored data is consistent after each [unit](Import). After an error, or when the future is dropped, the
    /// units before it stay.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let mut lines = Vec::new();
    /// # shop.export(&mut lines).await?;
    /// let copy = Shop::open(Embedded::memory().await?).await?;
    /// assert_eq!(copy.import(&lines[..]).await?, 14);
    /// assert_eq!(copy.products.get(1).await?.review_count, 3); // computed anew
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// Each names the line, or the lines from the first to the last of documents that refer to each other. `InvalidImport` if the reader
    /// has no export, an incomplete one, or one of another database, another version or unknown collections; for documents, the errors of
    /// an [import of files](ImportFiles#errors).
    fn import<'r>(&self, reader: impl AsyncBufRead + Unpin + Send + 'r) -> Import<'r> {
        Import::new(self.session(), TransferScope::of::<Self>(), reader)
    }

    /// Stores the documents of files of mongoexport and mongodump; [`ImportFiles`] describes the files and how their documents are written.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let parts = r#"{"_id":4,"name":"rivet","qty":1,"price":0.1,"tags":[]}"#; // or a file of tokio
    /// assert_eq!(shop.import_files().file::<Part>(parts.as_bytes()).await?, 1);
    /// # Ok(()) });
    /// ```
    fn import_files<'r>(&self) -> ImportFiles<'r> {
        ImportFiles::new(self.session(), TransferScope::of::<Self>())
    }

    /// Copies all documents of the database into another store: from the embedded one to a server, and back. Awaiting it returns the
    /// [`TransferProgress`]. The other store is opened first, by the same program, so that its indexes are there.
    ///
    /// Documents are read from the state that is committed when it begins. They are stored as by an [`import`](Database::import), with
    /// consistent data after each unit, but keep every byte, with cold parts, versions and times. A field whose refresh still
    /// [waits](Database::deferred_refreshes) in the source is refreshed. At the end the copy is [audited](Database::audit).
    ///
    /// After an error, or when the future is dropped, the same call goes on where the first one ended: it leaves the
    /// documents that are there. So the other store has to be empty, except for documents from an earlier call. Collections of the source
    /// that no model of the database names, and other databases on it, are not copied.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let server = Embedded::memory().await?; // or MongoDb::connect("mongodb://localhost:27017/shop")
    /// let copy = Shop::open(server).await?;
    /// let done = shop.copy_to(&copy).on_progress(|progress| println!("{progress:?}")).await?;
    /// assert_eq!((done.documents, done.found), (14, 0));
    /// assert_eq!(shop.copy_to(&copy).await?.found, 14); // all is there
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidImport`, with the collection and the `_id`, if the other store has a document that the source lacks or has with another
    /// content, or if the audit finds something that an audit of the source does not;
    /// `Schema` if a backfill is [pending](Database::pending_backfills) in the source; `InvalidQuery` into a transaction; the errors of an
    /// [`import`](Database::import), with the number of the document.
    fn copy_to(&self, other: &Self) -> CopyTo {
        CopyTo::new(self.session(), other.session(), TransferScope::of::<Self>())
    }

    /// Deletes the documents that have expired, of the models with `#[document(expires(..))]`, and returns their
    /// number. A worker does it when the database is opened and every minute from then on, as long as there is a clone
    /// of the database or a repository of it: see [`OpenOptions::delete_expired_every`].
    ///
    /// They are deleted as by
    /// [`delete_where`](crate::Repository::delete_where), with all effects, in units of a hundred. Until then they are read like others. A
    /// document that cannot be deleted, for instance because others refer to it, stays; `tracing` events under the target `odm` name the
    /// first hundred of them. In a [`transaction`](Database::transaction), which cannot go on after a refused write, it is an error.
    /// Dropping the future ends it between two units.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # for seen in [DateTime::now(), DateTime::from_millis(0)] {
    /// #     shop.carts.insert(NewCart { customer: "ann".into(), seen }).await?;
    /// # }
    /// // `#[document(collection = "carts", expires(field = "seen", after = "30d"))]`
    /// shop.delete_expired().await?;
    /// assert_eq!(shop.carts.all().count().await?, 1);
    /// # Ok(()) });
    /// ```
    fn delete_expired(&self) -> BoxFuture<'static, Result<u64>> {
        let session = self.session().clone();
        Box::pin(async move { expiry::delete_expired(&session).await })
    }

    /// Returns the deferred refreshes, of fields with `refresh = "later"`: how many wait for a worker, and since when, and which have
    /// failed.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // `#[denormalize(from = "Product.name", refresh = "later")]` in `Warranty`
    /// shop.products.update(1).set(Product::fields().name, "wall shelf").await?;
    /// let refreshes = shop.deferred_refreshes().await?;
    /// println!("{} wait, the oldest since {:?}; failed: {:?}", refreshes.waiting, refreshes.oldest, refreshes.failed);
    /// # assert!(refreshes.waiting <= 1);
    /// # Ok(()) });
    /// ```
    fn deferred_refreshes(&self) -> BoxFuture<'static, Result<DeferredRefreshes>> {
        let session = self.session().clone();
        Box::pin(async move { session.deferred_refreshes().await })
    }

    /// Waits until all [deferred refreshes](Database::deferred_refreshes) are done that follow from writes which returned before this call,
    /// by any program on the store, through all their chains. Those that fail for a permanent reason are failed refreshes then.
    ///
    /// It refreshes the fields itself, beside the worker of the database if there is one ([`OpenOptions::refresh_every`]), so that it also
    /// serves a program without a worker. Dropping the future ends it between two units, or undoes the last one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// shop.products.update(1).set(Product::fields().name, "wall shelf").await?;
    /// shop.wait_for_refreshes().await?; // in a test of a deferred copy
    /// assert_eq!(shop.warranties.get(1).await?.product_name, "wall shelf");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the store; `InvalidQuery` in a transaction.
    fn wait_for_refreshes(&self) -> BoxFuture<'static, Result<()>> {
        let session = self.session().clone();
        Box::pin(async move { session.wait_for_refreshes().await })
    }

    /// Retries all [failed refreshes](DeferredRefreshes::failed), from the first document on, and returns their number. Opening a database
    /// does the same.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.retry_failed_refreshes().await?, 0); // nothing had failed here
    /// # Ok(()) });
    /// ```
    fn retry_failed_refreshes(&self) -> BoxFuture<'static, Result<u64>> {
        let session = self.session().clone();
        Box::pin(async move { session.retry_failed_refreshes().await })
    }

    /// Compares all derived data with its definitions: copies with their sources, counts, existences and subsets with the children,
    /// inverse references with each other, split documents with their cold parts. It also finds dangling references,
    /// and documents that cannot be read as their models. Nothing is written.
    ///
    /// A field with `refresh = "later"` that is not refreshed yet is no finding: [`Progress::deferred`](crate::Progress::deferred) counts
    /// it. If its refresh has failed, it is a finding ([`FailedRefresh`](crate::Problem::FailedRefresh)).
    ///
    /// A store that is only written through this library has no findings, unless a backfill is [pending](Database::pending_backfills).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut audit = shop.audit();
    /// while let Some(finding) = audit.try_next().await? {
    ///     println!("{finding}, after {} documents", audit.progress().checked);
    /// }
    /// # Ok(()) });
    /// ```
    fn audit(&self) -> Audit {
        Audit::of_models(self.session(), AuditMode::Report)
    }

    /// Repairs the findings of an [`audit`](Database::audit), in units of a few hundred documents, and returns the findings, with whether
    /// each was repaired. Data that exists nowhere else is never discarded: a document that cannot be read stays, unless the unreadable
    /// part is a derived field.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let findings = shop.repair().await?;
    /// assert!(findings.iter().all(|finding| finding.repaired));
    /// # Ok(()) });
    /// ```
    fn repair(&self) -> Audit {
        Audit::of_models(self.session(), AuditMode::Repair)
    }

    /// Closes the store: waits for the writes that are under way, makes all commits durable, and refuses later calls, also by all other
    /// databases on the store. When this returns, another process can open the files. Closing a closed database does nothing.
    ///
    /// A read, a stream or a transaction that is under way may end with the error of a closed store. Once the future is polled, dropping it
    /// does not stop the close.
    ///
    /// A program that ends without calling it loses nothing if it drops the last clone of the store, which blocks the thread until all of
    /// that is done; but only this call returns the errors.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// shop.close().await?;
    /// assert_eq!(shop.parts.get(1).await.unwrap_err().kind(), odm::ErrorKind::Closed);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Io` if commits could not be made durable, or if all are and the file could not be closed; `OutsideTransaction` inside a
    /// transaction, which cannot wait for itself. Every later call fails with `Closed`.
    fn close(&self) -> impl Future<Output = Result<()>> + Send {
        async move { self.session().close().await }
    }

    /// Begins a transaction that the caller ends by [`commit`](TransactionGuard::commit). Dropping the
    /// guard rolls back.
    ///
    /// Prefer [`transaction`](Database::transaction) where a closure will do: it retries after transient failures.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let unit = shop.begin().await?;
    /// unit.parts.update(2).inc(Part::fields().qty, -2).await?;
    /// unit.commit().await?;
    /// assert_eq!(shop.parts.get(2).await?.qty, 3);
    /// # Ok(()) });
    /// ```
    fn begin(&self) -> impl Future<Output = Result<TransactionGuard<Self>>> + Send {
        async move { TransactionGuard::new(self, None).await }
    }
}
