//! The embedded store: documents in one file, without a server.
//!
//! Reads run on the calling task, on a snapshot. So does a write while nobody else writes; a thread of the store runs all others, one after
//! another, and commits waiting ones together. Each write is one unit: it is stored as a whole or not at all. A second thread syncs the
//! redo log, which lies beside the file while the store is open, as `NAME.log`.
//!
//! ```
//! # use odm::derive::examples::*; example(async |_| {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("shop.odm");
//! let store = Embedded::open(&path).await?;
//! let shop = Shop::open(store.clone()).await?;
//! store.backup(path.with_extension("backup")).await?;
//! shop.close().await?;
//! # Ok(()) });
//! ```
//!
//! A unit keeps its changes in memory until they exceed 64 MiB. It then runs again alone, in one
//! transaction of the storage engine, and takes little memory besides the cache. A transaction that a
//! caller drives ([`begin`](Store::begin)) has no such bound: its changes stay in memory until the
//! commit.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(missing_docs)]
#![warn(missing_debug_implementations)]
// For times, and for numbers that come from users or are stored: see `clippy.toml`.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod aggregate;
mod backup;
mod builder;
mod collections;
mod compact;
mod copy;
#[cfg(any(test, feature = "__test"))]
#[doc(hidden)]
pub mod disk;
mod engine;
mod ensure;
mod entries;
mod execute;
mod files;
mod handle;
mod ids;
mod layout;
mod log;
mod memtable;
mod open;
mod overlay;
mod place;
mod plan;
mod queue;
mod read;
mod read_only;
mod reads;
mod reservations;
mod salvage;
mod scan;
mod schema;
mod settings;
mod size;
mod snapshot;
mod start;
mod stats;
mod transaction;
mod uses;
mod verify;
mod view;
mod wait;
mod work;
mod write;
mod writer;

#[cfg(test)]
mod tests;

use std::{fmt, path::Path, sync::Arc};

use async_trait::async_trait;
use tokio::sync::oneshot;

pub use backup::Backup;
use backup::BackupSource;
pub use builder::Builder;
pub use compact::Compacted;
pub use copy::BackupProgress;
pub use read_only::ReadOnlyStore;
pub use salvage::Salvaged;
pub use size::{CollectionSize, IndexSize, StoreSize};

use odm_store::{
    Capabilities, CollectionSpec, CollectionStats, CommitTime, CommitWatch, Durability, IndexUses,
    Reader, Result, Store, StoreWatch, Transaction, TransactionOptions, UnitOfWork, WatchRequest,
};

use self::{handle::Handle, queue::Request, transaction::EmbeddedTransaction};

/// A store in a file, or in memory.
///
/// A clone is cheap, and is the same store. Dropping the last clone makes all commits durable, the
/// ones with [`Durability::Eventual`] as well, closes the file, and blocks until that is done.
/// `Database::close` and [`close`](Store::close) do the same without blocking the task, and
/// return errors.
///
/// An open store in the file `NAME`, or one that was not closed, has its last commits in a second file, `NAME.log`. The two belong
/// together; after `close`, `NAME` has everything.
///
/// ```
/// use odm::Embedded;
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("shop.odm");
///
/// let store = Embedded::open(&path).await?;
/// # Ok::<_, odm::Error>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Embedded {
    handle: Arc<Handle>,
}

/// How far the build of an index is.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// # let store = Embedded::memory().await?;
/// for build in store.index_builds()? {
///     println!("{} of `{}`: {} of {}", build.index, build.collection, build.documents, build.of);
/// }
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexBuild {
    /// The name of the collection.
    pub collection: String,
    /// The name of the index.
    pub index: String,
    /// The number of documents that the build has read.
    pub documents: u64,
    /// The number of documents that the collection has now.
    pub of: u64,
}

impl Embedded {
    /// Opens the store in a file, and creates the file if it does not exist.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.odm");
    /// let store = Embedded::open(&path).await?;
    /// let shop = Shop::open(store).await?;
    /// assert!(Embedded::open(&path).await.is_err(), "it is open");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Locked`](odm_store::ErrorKind::Locked) if the file is already open, in this process or in another;
    /// [`Corrupt`](odm_store::ErrorKind::Corrupt) if it is not a store, is damaged, or has a format that this version does not read, or if
    /// its log is missing or another's, or has lost synced records, which [`Builder::salvage`] can open; [`Io`](odm_store::ErrorKind::Io)
    /// if it cannot be opened, its folder does not exist, or a new one would take the place of a file of another store;
    /// [`DuplicateKey`](odm_store::ErrorKind::DuplicateKey) if a unique index with a collation was made by other rules, in another version
    /// of the library, and documents have the same key by the present ones; [`Schema`](odm_store::ErrorKind::Schema) if the program is
    /// built without the collation of an index.
    pub async fn open(path: impl AsRef<Path>) -> Result<Embedded> {
        Embedded::builder().open(path).await
    }

    /// Opens the store in a file to read it, while this or another process has it open to write it, or nobody has.
    ///
    /// A [`ReadOnlyStore`] has the state of the writer's last checkpoint, follows later ones, and never makes the writer wait.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |_| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.odm");
    /// # Shop::open(Embedded::open(&path).await?).await?.close().await?;
    /// let shop = Shop::open(Embedded::open_read_only(&path).await?).await?;
    /// println!("{} parts", shop.parts.all().count().await?);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`ReadOnly`](odm_store::ErrorKind::ReadOnly) if the store was not closed and nobody has it open, as after a crash: open it by
    /// [`open`](Embedded::open) once; [`Locked`](odm_store::ErrorKind::Locked) if a process has it open that does not share it: one with an
    /// older version of the library, or on a system other than Linux, Apple's and Windows; [`Io`](odm_store::ErrorKind::Io) if it does not
    /// exist or cannot be read; [`Corrupt`](odm_store::ErrorKind::Corrupt) if it is not a store, is damaged, or has a format that this
    /// version does not read.
    pub async fn open_read_only(path: impl AsRef<Path>) -> Result<ReadOnlyStore> {
        Embedded::builder().open_read_only(path).await
    }

    /// Opens an empty store in memory. It is gone when the last handle is dropped.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // A store for each test.
    /// let shop = Shop::open(Embedded::memory().await?).await?;
    /// assert_eq!(shop.parts.all().count().await?, 0);
    /// # Ok(()) });
    /// ```
    pub async fn memory() -> Result<Embedded> {
        Embedded::builder().memory().await
    }

    /// Creates a builder, to open a store with other settings.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use std::time::Duration;
    ///
    /// let store = Embedded::builder().cache_size(512 << 20).transaction_limit(Duration::from_secs(2)).memory().await?;
    /// let shop = Shop::open(store).await?;
    /// # Ok(()) });
    /// ```
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Verifies that all documents can be read, and that all indexes agree with them.
    ///
    /// This reads the whole store, on a snapshot: reads and writes go on. [`check`](Embedded::check) verifies the
    /// checksums of the file as well.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let store = Embedded::memory().await?;
    /// store.check_integrity().await?;
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Corrupt`](odm_store::ErrorKind::Corrupt) for the first defect.
    pub async fn check_integrity(&self) -> Result<()> {
        verify::verify(&*self.handle.published.get()?).await
    }

    /// Verifies the checksums of the whole file, and then the same as [`check_integrity`](Embedded::check_integrity):
    /// `store.check().await?` finds a bit that the disk has flipped.
    ///
    /// It begins with the log, and a checkpoint. Writes wait while the checksums are verified, which reads the whole file; reads go on, and
    /// so do writes during the rest, which is about the same state. The file is read through the operating system, and so perhaps from its
    /// cache. Nothing is repaired: after an error, go back to a [backup](Embedded::backup). But a damaged log loses nothing while the store
    /// is open: the checkpoint has its commits, and the error says so. Reads that memory can still answer can go on for a while.
    ///
    /// Dropping the future ends it after the checksums.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = Embedded::open(folder.path().join("shop.odm")).await?;
    /// store.check().await?; // once a week, or before a backup replaces the last one
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Corrupt`](odm_store::ErrorKind::Corrupt) for the first defect; [`Io`](odm_store::ErrorKind::Io) if the file cannot be read or
    /// the checkpoint fails; [`Closed`](odm_store::ErrorKind::Closed) if the store is closed.
    pub async fn check(&self) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        let snapshot = self.handle.ask(Request::Check { reply }, answer).await?;
        verify::verify(&snapshot).await
    }

    /// Returns the size of the store: of its files, and the numbers of documents and index entries, without reading them; and the number of
    /// earlier states that are still read, which prevent the reuse of space in its file.
    ///
    /// The file does not shrink when documents are deleted: their space is used for later ones, unless
    /// [`compact`](Embedded::compact) gives it back.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let store = Embedded::memory().await?;
    /// # let shop = Shop::open(store.clone()).await?;
    /// # let part = Part { id: 1, name: "bolt".into(), qty: 1, price: 0.1, tags: vec![], note: None };
    /// # shop.parts.insert(part).await?;
    /// let size = store.size()?;
    /// let parts = size.collections.iter().find(|collection| collection.name == "parts").unwrap();
    /// assert_eq!((parts.documents, parts.indexes.len()), (1, 1));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Closed`](odm_store::ErrorKind::Closed) if the store is closed; [`Io`](odm_store::ErrorKind::Io) if a file cannot be found, as
    /// after it was moved.
    pub fn size(&self) -> Result<StoreSize> {
        size::of(&self.handle.published, self.handle.path.as_deref())
    }

    /// Rewrites the file without its free space, and returns its sizes before and after.
    ///
    /// Reads and writes go on while all documents and indexes are copied into a new file, which gets the writes of that time as well, and
    /// then takes the name of the old one: writes wait for a sync of the folder, however large the store is. Running snapshots, streams and
    /// backups go on with the old file, whose space the disk gets back when the last of them ends. The disk must have room for both until
    /// then. A unit of more than 64 MiB has the copy go through both files once more.
    ///
    /// If another compaction runs, this one begins after it.
    ///
    /// A crash leaves all documents, in the old file or in the new one. If it leaves an incomplete new file, `NAME.new-..`, the next
    /// opening of the store removes it. The new file has the owner and the permissions of the old one. A store in memory gives memory back
    /// in the same way.
    ///
    /// ```
    /// # use odm::Embedded;
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = Embedded::open(folder.path().join("shop.odm")).await?;
    /// let compacted = store.compact().await?;
    /// println!("from {} to {} bytes", compacted.before, compacted.after);
    /// # Ok::<_, odm::Error>(()) }).unwrap();
    /// ```
    ///
    /// Dropping the future ends it: soon after, the file is as it was, unless the new one has just taken its place. So does a close of the
    /// store.
    ///
    /// # Errors
    ///
    /// [`Io`](odm_store::ErrorKind::Io) if the new file cannot be written, if the file was moved or replaced, and on other systems than
    /// Unix, where a file that is open is not replaced: the store goes on with the old one. `Io` also if it is uncertain
    /// which file would be found after a crash, since the disk failed in that moment: then the store refuses writes until it is opened
    /// again. [`Closed`](odm_store::ErrorKind::Closed) if the store is closed, also meanwhile;
    /// [`Corrupt`](odm_store::ErrorKind::Corrupt) if it cannot be read.
    pub async fn compact(&self) -> Result<Compacted> {
        let (reply, answer) = oneshot::channel();
        self.handle.ask(Request::Compact { reply }, answer).await
    }

    /// Copies the store into a new file while others read and write: `store.backup("shop-monday.odm").await?`.
    ///
    /// The copy has one state of the store between the call and its end, with all commits from before the call, and is a closed store: open
    /// it in place of the other. It is complete under its name or not there at all. It is written under another name beside it, made
    /// durable and renamed; if the process is killed meanwhile, a file `NAME.new-..` is left, which can be removed.
    ///
    /// It begins with a checkpoint, so that the copy has no commit that the store itself can still lose. Writes do not wait for the rest.
    /// Until it ends, the store does not reuse the space of pages that writes replace: its file grows by all that is written meanwhile, a
    /// page that changes ten times by ten pages. Back up a store with constant writes when they are few, and see that the disk has room for
    /// the copy and for that growth. A store in memory is backed up in the same way, and the copy is opened as a file.
    ///
    /// ```
    /// # use odm::Embedded;
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let store = Embedded::memory().await?;
    /// # let path = folder.path().join("copy.odm");
    /// store
    ///     .backup(&path)
    ///     .on_progress(|progress| println!("{} of {}", progress.entries, progress.of))
    ///     .await?;
    /// let copy = Embedded::open(&path).await?;
    /// # Ok::<_, odm::Error>(()) }).unwrap();
    /// ```
    ///
    /// Dropping the future ends it: soon after, the partial copy is removed. A backup that has just become complete stays.
    ///
    /// # Errors
    ///
    /// [`Io`](odm_store::ErrorKind::Io) if a file has the name of the copy or of its log, which stays, if the name is that of a present or
    /// future file of this or another store, or if the copy cannot be written; [`Closed`](odm_store::ErrorKind::Closed) if the store is
    /// closed, also meanwhile, unless the rest of it is in the cache; [`Corrupt`](odm_store::ErrorKind::Corrupt) if it cannot be read.
    pub fn backup(&self, path: impl AsRef<Path>) -> Backup {
        Backup::new(BackupSource::Writer(self.clone()), path.as_ref())
    }

    /// The indexes that are being built, in the order of their names, or whose build was interrupted: by a crash, or because the caller of
    /// [`ensure`](Store::ensure), such as a database that is opened, was dropped.
    ///
    /// Writes go on during a build, and queries do not use the index yet. An interrupted build continues from its last state when the index
    /// is requested again.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let store = Embedded::memory().await?;
    /// let is_ready = store.index_builds()?.is_empty();
    /// assert!(is_ready);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Closed`](odm_store::ErrorKind::Closed) if the store is closed.
    pub fn index_builds(&self) -> Result<Vec<IndexBuild>> {
        let snapshot = self.handle.published.get()?;
        let mut builds = Vec::new();
        for collection in snapshot.schema.collections() {
            for index in &collection.indexes {
                if let Some(build) = &index.build {
                    let of = snapshot.view().len(collection.tree)?.unwrap_or_default();
                    builds.push(IndexBuild {
                        collection: collection.name.clone(),
                        index: index.spec.name.clone(),
                        // Some documents may have been deleted since.
                        documents: build.documents.min(of),
                        of,
                    });
                }
            }
        }
        builds.sort_by(|a, b| (&a.collection, &a.index).cmp(&(&b.collection, &b.index)));
        Ok(builds)
    }

    /// The indexes that are in force, each with its collection, in the order of both names.
    #[cfg(any(test, feature = "__test"))]
    #[doc(hidden)]
    pub fn indexes(&self) -> Result<Vec<(String, odm_store::IndexSpec)>> {
        let specs = self.handle.published.get()?.schema.specs();
        let indexes = specs
            .into_iter()
            .flat_map(|CollectionSpec { name, indexes, .. }| {
                indexes.into_iter().map(move |index| (name.clone(), index))
            });
        Ok(indexes.collect())
    }
}

impl fmt::Debug for Embedded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Embedded")
            .field("name", &self.handle.name)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for Embedded {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
            .serializable()
            .outer_writes()
            .id(self.handle.id)
            .ignores_case()
            .collations()
            .changes_collections()
    }

    fn reader(&self) -> Result<Arc<dyn Reader>> {
        Ok(self.handle.published.get()?)
    }

    /// Waits for a checkpoint if earlier states hold much memory.
    async fn snapshot(&self) -> Result<Arc<dyn Reader>> {
        let newest = self.handle.published.get()?;
        if self.handle.published.held_memtables(&newest) < newest.settings.held_memtables {
            return Ok(newest);
        }
        drop(newest);
        let (reply, answer) = oneshot::channel();
        match self.handle.ask(Request::Snapshot { reply }, answer).await {
            Ok(snapshot) => Ok(snapshot),
            // After a failure of the disk nothing is written any more, and readers go on.
            Err(_) => self.reader(),
        }
    }

    async fn ensure(&self, collections: &[CollectionSpec]) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        let request = Request::Ensure {
            collections: collections.to_vec(),
            reply,
        };
        self.handle.ask(request, answer).await
    }

    async fn collections(&self) -> Result<Vec<CollectionSpec>> {
        Ok(self.handle.published.get()?.schema.specs())
    }

    /// Reads all pages of the collection and its indexes as of the last checkpoint, on a thread of its own, and looks up the documents and
    /// entries that have changed since: about a second for a GiB. `bytes` is the size of the entries with their keys, and `storage_bytes`
    /// the pages.
    async fn collection_stats(&self, collection: &str) -> Result<Option<CollectionStats>> {
        stats::of(&self.handle.published, collection).await
    }

    /// Reads no pages. A query counts once for each index in its plan, also if it is explained, and once for each key of a list of keys.
    async fn index_uses(&self, collection: &str) -> Result<Option<Vec<IndexUses>>> {
        stats::uses(&self.handle.published, collection)
    }

    async fn run(&self, unit: Arc<dyn UnitOfWork>, durability: Durability) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        let request = Request::Unit {
            unit,
            durability,
            waits: true,
            reply,
        };
        self.handle.commit(request, answer).await
    }

    async fn begin(&self, options: TransactionOptions) -> Result<Box<dyn Transaction>> {
        let transaction = EmbeddedTransaction::begin(&self.handle, options).await?;
        Ok(Box::new(transaction))
    }

    async fn watch(&self, request: &WatchRequest) -> Result<StoreWatch> {
        self.handle.published.feed.watch(self, request).await
    }

    async fn watch_commits(&self, after: Option<CommitTime>) -> Result<CommitWatch> {
        let feed = &self.handle.published.feed;
        feed.watch_commits(self, after).await
    }

    fn forget_commits(&self) {
        self.handle.published.feed.forget_commits();
    }

    async fn close(&self) -> Result<()> {
        let handle = &self.handle;
        let is_closed = || handle.published.get().is_err();
        let (reply, answer) = oneshot::channel();
        // The first of several calls closes the store, and the others wait in the queue until it has.
        match handle.send(Request::Close { reply }).await {
            Ok(()) => match answer.await {
                Ok(closed) => closed,
                Err(_) if is_closed() => Ok(()),
                Err(_) => Err(handle.gone()),
            },
            Err(_) if is_closed() => Ok(()),
            Err(error) => Err(error),
        }
    }
}
