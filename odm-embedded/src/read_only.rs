//! A store in a file that another process writes.
//!
//! The engine of the file shares it with processes that only read. A read-only store has the state of the last checkpoint, without the
//! later commits in the log. A thread takes a newer state several times a second, so that no old one holds up the reuse of pages in the
//! file for longer than a read.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use odm_store::{
    Capabilities, CollectionSpec, CollectionStats, Durability, Error, ErrorKind, IndexUses, Reader,
    Result, Store, StoreId, Transaction, TransactionOptions, UnitOfWork,
};
use tokio::sync::{Mutex, oneshot};

use super::{
    backup::{Backup, BackupSource},
    layout::META,
    log,
    memtable::Memtables,
    open::{ReadOnlyFile, has_format, stored_schema},
    schema::Schema,
    settings::Settings,
    size::{self, StoreSize},
    snapshot::{Published, Snapshot},
    stats, verify,
};

/// How often the thread takes the newest state.
const INTERVAL: Duration = Duration::from_millis(100);

/// A store that only reads, from [`Embedded::open_read_only`](super::Embedded::open_read_only). Another process may have the same file
/// [open](super::Embedded::open), and write.
///
/// It has the state of the last checkpoint of the writer, which is at most some seconds old (see
/// [`checkpoint_interval`](super::Builder::checkpoint_interval)), and takes a later one within a tenth of a second, also from the new file
/// of a [compaction](super::Embedded::compact). It never makes the writer wait. Each read sees one state, and a snapshot, a stream or an
/// export goes on with the state with which it began; until it ends, the writer's file grows by the pages that change.
///
/// All writes fail with [`ReadOnly`](odm_store::ErrorKind::ReadOnly). A database opens on it if its models are the ones with which it was
/// last opened in the writer. A clone is cheap, and is the same store.
///
/// ```
/// # use odm::derive::examples::*; example(async |_| {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("shop.odm");
/// # Shop::open(Embedded::open(&path).await?).await?.close().await?;
/// let store = Embedded::open_read_only(&path).await?;
/// let shop = Shop::open(store.clone()).await?;
/// println!("{} parts, {:?} ago", shop.parts.all().count().await?, store.last_checkpoint()?.map(|time| time.elapsed()));
/// # Ok(()) });
/// ```
#[derive(Clone)]
pub struct ReadOnlyStore {
    handle: Arc<ReadOnlyHandle>,
}

struct ReadOnlyHandle {
    id: StoreId,
    name: Arc<str>,
    path: PathBuf,
    published: Arc<Published>,
    /// `None` once the store is closed.
    thread: Mutex<Option<FollowThread>>,
}

/// The thread that takes the newest state.
struct FollowThread {
    /// Ends the thread when it is dropped.
    _running: Sender<()>,
    ended: oneshot::Receiver<()>,
}

/// The open file, and the place where another one can take its place.
struct Followed {
    path: PathBuf,
    name: Arc<str>,
    file: ReadOnlyFile,
    settings: Arc<Settings>,
    /// The schema of the state that was read last.
    schema: Arc<Schema>,
}

impl Followed {
    fn open(path: PathBuf, name: Arc<str>, settings: Settings) -> Result<Followed> {
        let file = ReadOnlyFile::open(&path, &name, settings.cache_size)?;
        Ok(Followed {
            path,
            name,
            file,
            settings: Arc::new(settings),
            schema: Arc::default(),
        })
    }

    /// The newest state of the file that the path leads to now.
    fn newest(&mut self) -> Result<Arc<Snapshot>> {
        if !self.file.is_at(&self.path, &self.name)? {
            self.file = ReadOnlyFile::open(&self.path, &self.name, self.settings.cache_size)?;
        }
        let base = self.file.engine.newest()?;
        if !has_format(&base, &self.name)? {
            let message = format!(
                "`{}` is not a store of this library: it is empty",
                self.name
            );
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        let mut schema = stored_schema(&base)?;
        schema.continue_uses(&self.schema);
        self.schema = Arc::new(schema);
        Ok(Arc::new(Snapshot {
            base: Arc::new(base),
            memtables: Memtables::default(),
            schema: self.schema.clone(),
            settings: self.settings.clone(),
        }))
    }

    /// Publishes the newest state again and again, or the error of it, until the store is closed.
    fn follow(mut self, published: &Published, running: &Receiver<()>) {
        while running.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            match self.newest() {
                Ok(newest) => published.publish(newest),
                // The writer was killed after it had put another file in the place, which the next writer recovers.
                Err(error) if error.kind() == ErrorKind::ReadOnly => {}
                Err(error) => published.close(error),
            }
        }
        published.close(closed(&self.name));
    }
}

fn closed(name: &str) -> Error {
    Error::new(ErrorKind::Closed, format!("the store `{name}` is closed"))
}

impl ReadOnlyStore {
    /// Opens a file on the thread that follows it, so that waiting for the disk does not block a task.
    pub(super) async fn open(path: &Path, settings: Settings) -> Result<ReadOnlyStore> {
        let name: Arc<str> = path.display().to_string().into();
        let absolute = std::path::absolute(path).map_err(|error| {
            let message = format!("cannot open `{name}`: {error}");
            Error::new(ErrorKind::Io, message).with_source(error)
        })?;
        let check = settings.check;
        let (opened, answer) = oneshot::channel();
        let (running, is_running) = mpsc::channel();
        let (ending, ended) = oneshot::channel();
        let (path, followed) = (absolute.clone(), name.clone());
        let follow = move || {
            // Dropped at the end of the thread.
            let _ending: oneshot::Sender<()> = ending;
            let followed = Followed::open(path, followed, settings);
            let newest = followed.and_then(|mut followed| {
                let newest = followed.newest()?;
                Ok((followed, newest))
            });
            let (followed, newest) = match newest {
                Ok(newest) => newest,
                Err(error) => return drop(opened.send(Err(error))),
            };
            let published = Arc::new(Published::new(newest));
            if opened.send(Ok(published.clone())).is_ok() {
                followed.follow(&published, &is_running);
            }
        };
        let thread = thread::Builder::new().name("odm-reader".to_owned());
        thread.spawn(follow).map_err(|error| {
            Error::new(
                ErrorKind::Io,
                "cannot start the thread of a read-only store",
            )
            .with_source(error)
        })?;
        let published = answer.await.unwrap_or_else(|_| {
            let message = format!(
                "`{name}` could not be opened: its thread panicked; the file may be damaged"
            );
            Err(Error::new(ErrorKind::Corrupt, message))
        })?;
        if check {
            verify::verify(&*published.get()?).await?;
        }
        Ok(ReadOnlyStore {
            handle: Arc::new(ReadOnlyHandle {
                id: StoreId::new(),
                name,
                path: absolute,
                published,
                thread: Mutex::new(Some(FollowThread {
                    _running: running,
                    ended,
                })),
            }),
        })
    }

    /// Returns the time of the checkpoint whose state the store has: all commits until then, and none after it, unless one unit was so
    /// large that it went into the file by itself. `None` if the writer has made none yet, or the file is a backup.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |_| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.odm");
    /// # Shop::open(Embedded::open(&path).await?).await?.close().await?;
    /// let store = Embedded::open_read_only(&path).await?;
    /// let age = store.last_checkpoint()?.and_then(|time| time.elapsed().ok());
    /// assert!(age.is_some_and(|age| age.as_secs() < 60), "the writer has made no checkpoint for a minute");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Closed`](odm_store::ErrorKind::Closed) if the store is closed; [`Io`](odm_store::ErrorKind::Io) or
    /// [`Corrupt`](odm_store::ErrorKind::Corrupt) if the newest state cannot be read, until it can be read again.
    pub fn last_checkpoint(&self) -> Result<Option<SystemTime>> {
        let newest = self.handle.published.get()?;
        let named = newest.base.get(META, log::RECORD)?;
        Ok(named.and_then(|named| log::time_of(&named)))
    }

    /// Verifies that all documents can be read, and that all indexes agree with them. This reads the whole file.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |_| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.odm");
    /// # Shop::open(Embedded::open(&path).await?).await?.close().await?;
    /// Embedded::open_read_only(&path).await?.check_integrity().await?;
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Corrupt`](odm_store::ErrorKind::Corrupt) for the first defect, and the errors of
    /// [`last_checkpoint`](ReadOnlyStore::last_checkpoint).
    pub async fn check_integrity(&self) -> Result<()> {
        verify::verify(&*self.handle.published.get()?).await
    }

    /// Returns the size of the store, as [`Embedded::size`](super::Embedded::size) does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |_| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.odm");
    /// # Shop::open(Embedded::open(&path).await?).await?.close().await?;
    /// println!("{:?} bytes", Embedded::open_read_only(&path).await?.size()?.file);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`last_checkpoint`](ReadOnlyStore::last_checkpoint).
    pub fn size(&self) -> Result<StoreSize> {
        size::of(&self.handle.published, Some(&self.handle.path))
    }

    /// Copies the state of the writer's last checkpoint into a new file, as [`Embedded::backup`](super::Embedded::backup) does: for a
    /// service that makes no backups itself. The commits since the checkpoint are not in the copy.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |_| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.odm");
    /// # Shop::open(Embedded::open(&path).await?).await?.close().await?;
    /// Embedded::open_read_only(&path).await?.backup(path.with_extension("backup")).await?;
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Embedded::backup`](super::Embedded::backup).
    pub fn backup(&self, path: impl AsRef<Path>) -> Backup {
        Backup::new(BackupSource::Reader(self.clone()), path.as_ref())
    }

    pub(super) fn path(&self) -> &Path {
        &self.handle.path
    }

    pub(super) fn snapshot(&self) -> Result<Arc<Snapshot>> {
        self.handle.published.get()
    }

    #[cold]
    fn refused(&self) -> Error {
        let message = format!(
            "`{}` was opened to be read only: write in the program that opens it by `Embedded::open`",
            self.handle.name
        );
        Error::new(ErrorKind::ReadOnly, message)
    }
}

impl fmt::Debug for ReadOnlyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOnlyStore")
            .field("name", &self.handle.name)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for ReadOnlyStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
            .serializable()
            .outer_writes()
            .id(self.handle.id)
            .ignores_case()
            .collations()
            .read_only()
    }

    fn reader(&self) -> Result<Arc<dyn Reader>> {
        Ok(self.handle.published.get()?)
    }

    async fn ensure(&self, _: &[CollectionSpec]) -> Result<()> {
        Err(self.refused())
    }

    async fn collections(&self) -> Result<Vec<CollectionSpec>> {
        Ok(self.handle.published.get()?.schema.specs())
    }

    /// Measures the state of the last checkpoint.
    async fn collection_stats(&self, collection: &str) -> Result<Option<CollectionStats>> {
        stats::of(&self.handle.published, collection).await
    }

    /// The uses by this store, and not by the program that writes the file.
    async fn index_uses(&self, collection: &str) -> Result<Option<Vec<IndexUses>>> {
        stats::uses(&self.handle.published, collection)
    }

    async fn run(&self, _: Arc<dyn UnitOfWork>, _: Durability) -> Result<()> {
        Err(self.refused())
    }

    async fn begin(&self, _: TransactionOptions) -> Result<Box<dyn Transaction>> {
        Err(self.refused())
    }

    async fn close(&self) -> Result<()> {
        // The other calls wait for the first one.
        let mut thread = self.handle.thread.lock().await;
        if let Some(FollowThread { _running, ended }) = thread.take() {
            drop(_running);
            let _ = ended.await;
        }
        Ok(())
    }
}
