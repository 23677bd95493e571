//! Copies of an open store.
//!
//! A copy is made of one pinned state, on a thread of its own, since it blocks in writes and syncs of the new file. It begins with a
//! checkpoint, so that the copy has no commit that a crash of the store could still undo.

use std::{
    fmt,
    future::IntoFuture,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use futures_core::future::BoxFuture;
use odm_store::{Error, ErrorKind, Result};
use tokio::sync::oneshot;

use super::{
    Embedded,
    copy::{BackupProgress, copy},
    engine::FileBackend,
    files::{self, NewFile},
    log::{self, Beside},
    queue::Request,
    read_only::ReadOnlyStore,
    snapshot::Snapshot,
};

type OnProgress = dyn FnMut(BackupProgress) + Send;

/// A backup, from [`Embedded::backup`] and [`ReadOnlyStore::backup`]. Awaiting it makes the copy.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// # let store = Embedded::memory().await?;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("shop-monday.odm");
/// store.backup(&path).await?;
/// let copy = Shop::open(Embedded::open(&path).await?).await?;
/// # Ok(()) });
/// ```
#[must_use = "a backup does nothing until it is awaited"]
pub struct Backup {
    source: BackupSource,
    target: PathBuf,
    on_progress: Box<OnProgress>,
}

/// The store that is copied.
#[derive(Debug)]
pub(super) enum BackupSource {
    Writer(Embedded),
    Reader(ReadOnlyStore),
}

impl BackupSource {
    fn path(&self) -> Option<&Path> {
        match self {
            BackupSource::Writer(store) => store.handle.path.as_deref(),
            BackupSource::Reader(store) => Some(store.path()),
        }
    }

    /// The state that is copied, of which a crash can undo nothing.
    async fn durable(&self) -> Result<Arc<Snapshot>> {
        match self {
            BackupSource::Writer(store) => {
                let (reply, answer) = oneshot::channel();
                let request = Request::Snapshot { reply };
                store.handle.ask(request, answer).await
            }
            BackupSource::Reader(store) => store.snapshot(),
        }
    }
}

impl Backup {
    pub(super) fn new(source: BackupSource, target: &Path) -> Backup {
        Backup {
            source,
            target: target.to_owned(),
            on_progress: Box::new(|_| {}),
        }
    }

    /// Calls a function after each portion of about 1 MiB, and at the end, on the thread that copies.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let store = Embedded::memory().await?;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop-monday.odm");
    /// store.backup(&path).on_progress(|progress| println!("{} of {}", progress.entries, progress.of)).await?;
    /// # Ok(()) });
    /// ```
    pub fn on_progress(mut self, report: impl FnMut(BackupProgress) + Send + 'static) -> Self {
        self.on_progress = Box::new(report);
        self
    }

    async fn run(self) -> Result<()> {
        let Backup {
            source,
            target,
            mut on_progress,
        } = self;
        refuse_own(&target, source.path())?;
        refuse_existing(&target)?;
        let snapshot = source.durable().await?;
        let (reply, answer) = oneshot::channel();
        let name = target.display().to_string();
        let copying = move || {
            let copied = copy_to_file(&snapshot, &target, &mut |progress| {
                on_progress(progress);
                // The caller may have dropped the backup.
                !reply.is_closed()
            });
            drop(snapshot);
            let _ = reply.send(copied);
        };
        let thread = thread::Builder::new().name("odm-backup".to_owned());
        thread.spawn(copying).map_err(|error| {
            Error::new(ErrorKind::Io, "cannot start the thread of a backup").with_source(error)
        })?;
        answer.await.unwrap_or_else(|_| {
            let message = format!("backup to `{name}` failed: its thread panicked");
            Err(Error::new(ErrorKind::Io, message))
        })
    }
}

impl IntoFuture for Backup {
    type Output = Result<()>;
    type IntoFuture = BoxFuture<'static, Result<()>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl fmt::Debug for Backup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backup")
            .field("source", &self.source)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// Future files of this or another store are refused, too: the log of a store is made by its next write.
fn refuse_own(target: &Path, store: Option<&Path>) -> Result<()> {
    let refuse = |why: String, source: io::Error| {
        let message = format!("backup to `{}` refused: {why}", target.display());
        Err(Error::new(ErrorKind::Io, message).with_source(source))
    };
    if let Err(error) = files::refuse_own(target) {
        return refuse(error.to_string(), error);
    }
    let log = store.map(Beside::new);
    let own = [store, log.as_ref().map(Beside::path)];
    match own
        .into_iter()
        .flatten()
        .any(|own| files::are_same(own, target))
    {
        true => refuse(
            "it is the place of a file of the store itself; choose another name".to_owned(),
            io::ErrorKind::InvalidInput.into(),
        ),
        false => Ok(()),
    }
}

/// A file with the name of the copy would be lost, and one with the name of its log would be taken for it.
fn refuse_existing(target: &Path) -> Result<()> {
    let log = Beside::new(target);
    let found = match (target.symlink_metadata().is_ok(), log.exists()) {
        (true, _) => target.display().to_string(),
        (false, true) => log::LogFile::name(&log),
        (false, false) => return Ok(()),
    };
    let message = format!("backup refused: `{found}` is there already; choose another name");
    Err(Error::new(ErrorKind::Io, message)
        .with_source(io::Error::from(io::ErrorKind::AlreadyExists)))
}

/// Makes a copy in a temporary file beside its place, and renames the file once it is complete.
fn copy_to_file(
    snapshot: &Snapshot,
    target: &Path,
    goes_on: &mut dyn FnMut(BackupProgress) -> bool,
) -> Result<()> {
    let name: Arc<str> = target.display().to_string().into();
    let cannot = |error: io::Error| {
        let message = format!("cannot write the backup `{name}`: {error}");
        Error::new(ErrorKind::Io, message).with_source(error)
    };
    let (new, file) = NewFile::beside(target).map_err(cannot)?;
    // The engine closes its own handle.
    let written = file.try_clone().map_err(cannot)?;
    let backend = FileBackend::new(file).map_err(|error| cannot(io::Error::other(error)))?;
    copy(snapshot, Arc::new(backend), name.clone(), goes_on)?;
    written.sync_all().map_err(cannot)?;
    drop(written);
    // A store may have been created meanwhile whose log belongs at this place.
    files::refuse_own(target).map_err(cannot)?;
    new.put_in_place().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => refuse_existing(target)
            .err()
            .unwrap_or_else(|| cannot(error)),
        _ => cannot(error),
    })
}
