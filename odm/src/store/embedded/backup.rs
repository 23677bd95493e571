//! Copies of a store that is open.
//!
//! A copy is made of one pinned state, tree by tree, on a thread of its own, since it blocks in writes and syncs of the
//! new file. It begins with a checkpoint, so that the copy never has what a crash of the store could still undo.

use std::{
    fmt,
    future::IntoFuture,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use futures_core::future::BoxFuture;
use tokio::sync::oneshot;

use super::{
    Embedded,
    engine::{Backend, Engine, FileBackend},
    files::NewFile,
    layout::{END, META, Tree},
    log::{self, Beside},
    queue::Request,
    snapshot::Snapshot,
};
use crate::error::{Error, ErrorKind, Result};

/// How many bytes the cache of the copy may hold. What is over it is written.
const CACHE: usize = 16 << 20;

/// How many bytes are copied between two reports.
const PORTION: usize = 1 << 20;

/// How far a [`Backup`] is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupProgress {
    /// The number of documents and index entries that are copied.
    pub entries: u64,
    /// The number of all that the copy will have.
    pub of: u64,
    /// The bytes of those that are copied.
    pub bytes: u64,
}

type OnProgress = dyn FnMut(BackupProgress) + Send;

/// A backup, from [`Embedded::backup`]. Awaiting it makes the copy.
#[must_use = "a backup does nothing until it is awaited"]
pub struct Backup {
    store: Embedded,
    target: PathBuf,
    on_progress: Box<OnProgress>,
}

impl Backup {
    pub(super) fn new(store: Embedded, target: &Path) -> Backup {
        Backup {
            store,
            target: target.to_owned(),
            on_progress: Box::new(|_| {}),
        }
    }

    /// Calls a function after each portion of about 1 MiB, and at the end, on the thread that copies.
    pub fn on_progress(mut self, report: impl FnMut(BackupProgress) + Send + 'static) -> Self {
        self.on_progress = Box::new(report);
        self
    }

    async fn run(self) -> Result<()> {
        let Backup {
            store,
            target,
            mut on_progress,
        } = self;
        refuse_existing(&target)?;
        let (reply, answer) = oneshot::channel();
        let checkpoint = Request::Checkpoint { reply };
        let snapshot = store.handle.ask(checkpoint, answer).await?;
        let (reply, answer) = oneshot::channel();
        let name = target.display().to_string();
        let copying = move || {
            let copied = copy_to_file(&snapshot, &target, &mut |progress| {
                on_progress(progress);
                // The caller may have gone away.
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
            .field("store", &self.store)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// A file of the name of the copy would be lost, and one of the name of its log would be taken for that.
fn refuse_existing(target: &Path) -> Result<()> {
    let log = Beside::new_store(target);
    let found = match (target.symlink_metadata().is_ok(), log.exists()) {
        (true, _) => target.display().to_string(),
        (false, true) => log::LogFile::name(&log),
        (false, false) => return Ok(()),
    };
    let message = format!("backup refused: `{found}` is there already; choose another name");
    Err(Error::new(ErrorKind::Io, message)
        .with_source(std::io::Error::from(std::io::ErrorKind::AlreadyExists)))
}

/// Makes a copy beside its place, and puts it there when it is whole.
fn copy_to_file(
    snapshot: &Snapshot,
    target: &Path,
    goes_on: &mut dyn FnMut(BackupProgress) -> bool,
) -> Result<()> {
    let name: Arc<str> = target.display().to_string().into();
    let cannot = |error: std::io::Error| {
        let message = format!("cannot write the backup `{name}`: {error}");
        Error::new(ErrorKind::Io, message).with_source(error)
    };
    let (new, file) = NewFile::beside(target).map_err(cannot)?;
    // The engine closes its own handle.
    let written = file.try_clone().map_err(cannot)?;
    let backend = FileBackend::new(file).map_err(|error| cannot(std::io::Error::other(error)))?;
    copy(snapshot, backend, name.clone(), goes_on)?;
    written.sync_all().map_err(cannot)?;
    drop(written);
    new.put_in_place().map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => refuse_existing(target)
            .err()
            .unwrap_or_else(|| cannot(error)),
        _ => cannot(error),
    })
}

/// Copies a state into an empty backend, which is closed and whole then.
pub(super) fn copy(
    snapshot: &Snapshot,
    backend: impl Backend,
    name: Arc<str>,
    goes_on: &mut dyn FnMut(BackupProgress) -> bool,
) -> Result<()> {
    let trees = snapshot.base.trees()?;
    let mut progress = BackupProgress::default();
    for &tree in trees.iter().filter(|tree| **tree != META) {
        progress.of += snapshot.base.len(tree)?.unwrap_or_default();
    }
    let mut engine = Engine::open(backend, name.clone(), CACHE)?;
    let transaction = engine.begin()?;
    for tree in trees {
        let mut entries = snapshot.base.range(tree, &[], &END, false)?;
        loop {
            let mut portion = Vec::new();
            let mut bytes = 0;
            while bytes < PORTION
                && let Some((key, value)) = entries.next().transpose()?
            {
                bytes += key.len() + value.len();
                portion.push((key, value));
            }
            if portion.is_empty() {
                break;
            }
            let kept = portion.iter().filter(|(key, _)| !is_log(tree, key));
            transaction.write(kept.map(|(key, value)| (tree, &**key, Some(&**value))))?;
            if tree != META {
                progress.entries += portion.len() as u64;
                progress.bytes += bytes as u64;
            }
            if !goes_on(progress) {
                return Err(Error::new(
                    ErrorKind::Io,
                    "backup ended: its future was dropped",
                ));
            }
        }
    }
    engine.commit_open(&transaction)?;
    drop(transaction);
    engine.close()
}

/// The copy is a closed store, which has no log.
fn is_log(tree: Tree, key: &[u8]) -> bool {
    tree == META && key == log::RECORD
}
