//! What the store needs of a storage engine: one ordered map of bytes, with snapshots and atomic
//! commits. Everything above knows only this, so that the engine can be replaced.

pub(super) mod redb;
mod shield;

use std::ops::Deref;

use crate::error::Result;

/// An ordered map of bytes with one writer.
pub(super) trait Engine: Send + Sized {
    /// A view of one committed state.
    type Snapshot: Snapshot;

    /// The newest committed state. It stays readable, unchanged, while later commits happen.
    fn snapshot(&self) -> Result<Self::Snapshot>;

    /// Applies all changes, or none. They must come in ascending order of their keys, each once; no
    /// value removes the key.
    ///
    /// With `durable`, this commit and all before it are safe from a crash on return. After an
    /// error it is unknown whether the changes are on disk, and the engine must not be written to
    /// again; its snapshots can still be read.
    fn commit<'a>(
        &mut self,
        changes: impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)>,
        durable: bool,
    ) -> Result<()>;

    /// Makes all commits safe from a crash.
    fn flush(&mut self) -> Result<()> {
        self.commit(std::iter::empty(), true)
    }

    /// Verifies all checksums. No snapshot may exist.
    fn check(&mut self) -> Result<()>;
}

/// One committed state.
pub(super) trait Snapshot: Send + Sync + 'static {
    /// Bytes as they lie in the engine's cache.
    type Bytes: Deref<Target = [u8]> + Send + 'static;
    /// The entries of a range of keys, in order, from both ends.
    type Range: DoubleEndedIterator<Item = Result<(Self::Bytes, Self::Bytes)>> + Send + 'static;

    /// The value of a key.
    fn get(&self, key: &[u8]) -> Result<Option<Self::Bytes>>;

    /// The entries from `lower`, which is within, to `upper`, which is beyond. `lower` must not be
    /// greater than `upper`.
    fn range(&self, lower: &[u8], upper: &[u8]) -> Result<Self::Range>;
}
