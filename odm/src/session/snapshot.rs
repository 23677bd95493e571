//! Sessions that read one state of the data, and write nothing.

use std::sync::{Arc, Mutex, PoisonError};

use odm_store::{Error, ErrorKind, Reader, Result};

use super::{Session, SharedCatalog, guard::refuse_read_inside_transaction};

/// The state that the repositories of a snapshot read.
pub(crate) struct Snapshot(Mutex<SnapshotState>);

enum SnapshotState {
    Committed(Arc<dyn Reader>),
    /// The state of the transaction of the session.
    OfTransaction,
    Ended,
}

impl Snapshot {
    /// Returns the reader of the committed state, or `None` for the state of a transaction.
    pub(super) fn reader(&self) -> Result<Option<Arc<dyn Reader>>> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            SnapshotState::Committed(reader) => Ok(Some(reader.clone())),
            SnapshotState::OfTransaction => Ok(None),
            SnapshotState::Ended => Err(Error::new(
                ErrorKind::SnapshotEnded,
                "snapshot ended: use the database that its closure received only within the closure",
            )),
        }
    }
}

/// Ends a snapshot when it is dropped. Operations that are under way go on; later ones get an error.
pub(crate) struct SnapshotGuard(Arc<Snapshot>);

impl Drop for SnapshotGuard {
    fn drop(&mut self) {
        let mut state = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = std::mem::replace(&mut *state, SnapshotState::Ended);
        drop(state);
        // The last reader of a state frees its pages, which must not happen under the lock.
        drop(ended);
    }
}

impl Session {
    /// Returns the session with its reads on the present state, until the guard is dropped.
    pub(crate) async fn snapshot(&self) -> Result<(Self, SnapshotGuard)> {
        let mut session = self.clone();
        let state = match &self.snapshot {
            // A snapshot within another one has its state, and may end sooner.
            Some(outer) => outer
                .reader()?
                .map_or(SnapshotState::OfTransaction, SnapshotState::Committed),
            None if self.is_bound() => SnapshotState::OfTransaction,
            None => {
                refuse_read_inside_transaction(&*self.store)?;
                // The catalog is as old as the state or older, so that fields computed since count as pending. By a newer one, fields that
                // are still pending in the state would count as computed.
                session.catalog = Arc::new(SharedCatalog::new(self.catalog()));
                SnapshotState::Committed(self.store.snapshot().await?)
            }
        };
        let snapshot = Arc::new(Snapshot(Mutex::new(state)));
        session.snapshot = Some(snapshot.clone());
        Ok((session, SnapshotGuard(snapshot)))
    }

    /// Whether all operations read one state: that of a transaction, or of a snapshot.
    pub(crate) fn has_own_state(&self) -> bool {
        self.is_bound() || self.snapshot.is_some()
    }

    /// Refuses an operation that a snapshot cannot run. The operation is named as the subject of a sentence.
    pub(crate) fn refuse_in_snapshot(&self, operation: impl FnOnce() -> String) -> Result<()> {
        if self.snapshot.is_none() {
            return Ok(());
        }
        let message = format!(
            "{} refused: a snapshot is read-only; write through the database outside of its closure",
            operation()
        );
        Err(Error::new(ErrorKind::ReadOnly, message))
    }
}
