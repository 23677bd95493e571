//! The copy of a state into a file without free space, tree by tree.

use std::sync::Arc;

use odm_store::{Error, ErrorKind, Result};

use super::{
    engine::{Backend, Engine},
    layout::{END, META},
    log,
    snapshot::Snapshot,
};

/// The size of the cache of the copy, in bytes. Pages beyond it are written.
const CACHE: usize = 16 << 20;

/// How many bytes are copied between two reports.
const PORTION: usize = 1 << 20;

/// How far a [`Backup`](super::Backup) is.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::BackupProgress;
///
/// # let store = Embedded::memory().await?;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("copy.odm");
/// let report = |progress: BackupProgress| println!("{} of {}, {} bytes", progress.entries, progress.of, progress.bytes);
/// store.backup(&path).on_progress(report).await?;
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupProgress {
    /// The number of copied documents and index entries.
    pub entries: u64,
    /// The number of documents and index entries in the complete copy.
    pub of: u64,
    /// The bytes of the copied entries.
    pub bytes: u64,
}

/// Copies a state into an empty backend, and closes it. It is a closed store then, which has no log.
pub(super) fn copy(
    snapshot: &Snapshot,
    backend: Arc<dyn Backend>,
    name: Arc<str>,
    goes_on: &mut dyn FnMut(BackupProgress) -> bool,
) -> Result<()> {
    let mut trees = snapshot.base.trees()?;
    trees.extend(snapshot.memtables.trees());
    let view = snapshot.view();
    let mut progress = BackupProgress::default();
    for &tree in trees.iter().filter(|tree| **tree != META) {
        progress.of += view.len(tree)?.unwrap_or_default();
    }
    let mut engine = Engine::open(backend, name.clone(), CACHE)?;
    let transaction = engine.begin()?;
    for tree in trees {
        let mut entries = view.range(tree, &[], &END, false)?;
        loop {
            let mut portion = Vec::new();
            let mut bytes = 0;
            while bytes < PORTION
                && let Some((key, value)) = entries.next()?
            {
                bytes += key.len() + value.len();
                portion.push((key.to_vec(), value.to_vec()));
            }
            if portion.is_empty() {
                break;
            }
            let kept = portion
                .iter()
                .filter(|(key, _)| tree != META || key != log::RECORD);
            transaction.write(kept.map(|(key, value)| (tree, &**key, Some(&**value))))?;
            if tree != META {
                progress.entries += portion.len() as u64;
                progress.bytes += bytes as u64;
            }
            if !goes_on(progress) {
                return Err(Error::new(
                    ErrorKind::Io,
                    "copy ended: its future was dropped",
                ));
            }
        }
    }
    engine.commit_open(&transaction)?;
    drop(transaction);
    engine.close()
}
