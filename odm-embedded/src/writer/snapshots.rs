//! States without memtables, for backups and for readers that live long: such a state holds pages of the file, and no memory.
//!
//! Only the state after a checkpoint is one. The callers wait for the next checkpoint that begins after their request.

use std::{mem, sync::Arc};

use odm_store::{Error, Result};

use super::{
    super::{
        engine::BaseState,
        memtable::{CommitNumber, Memtables},
        queue::Reply,
        schema::Schema,
        snapshot::Snapshot,
    },
    Writer,
};

/// The callers who wait for such a state.
#[derive(Default)]
pub(super) struct SnapshotRequests {
    waiting: Vec<Reply<Arc<Snapshot>>>,
    /// Those of the running checkpoint.
    running: Vec<Reply<Arc<Snapshot>>>,
    /// The schema that it writes.
    schema: Arc<Schema>,
}

impl SnapshotRequests {
    pub(super) fn add(&mut self, reply: Reply<Arc<Snapshot>>) {
        self.waiting.push(reply);
    }

    pub(super) fn is_due(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Notes the begin of a checkpoint.
    pub(super) fn note_checkpoint(&mut self, schema: &Arc<Schema>) {
        self.running.append(&mut self.waiting);
        self.schema = schema.clone();
    }

    /// Refuses all.
    pub(super) fn refuse(&mut self, error: &Error) {
        let waiting = mem::take(&mut self.waiting);
        for reply in self.running.drain(..).chain(waiting) {
            let _ = reply.send(Err(error.clone()));
        }
    }
}

impl Writer {
    /// Answers the callers of the checkpoint that has ended, with its state.
    pub(super) fn answer_snapshots(&mut self, base: &Arc<BaseState>, commit: CommitNumber) {
        if self.snapshots.running.is_empty() {
            return;
        }
        let snapshot = Arc::new(Snapshot {
            base: base.clone(),
            memtables: Memtables::none(commit),
            schema: self.snapshots.schema.clone(),
            settings: self.settings.clone(),
        });
        self.published.add_earlier(&snapshot);
        for reply in self.snapshots.running.drain(..) {
            let _ = reply.send(Ok(snapshot.clone()));
        }
    }

    /// Begins the checkpoint that callers wait for, unless the engine has everything already. No checkpoint may run.
    pub(super) fn prepare_snapshots(&mut self) {
        self.snapshots.waiting.retain(|reply| !reply.is_closed());
        if !self.snapshots.is_due() {
            return;
        }
        if let Err(error) = self.try_prepare_snapshots() {
            self.snapshots.refuse(&error);
        }
    }

    fn try_prepare_snapshots(&mut self) -> Result<()> {
        if !self.memtable.is_empty() {
            return self.start_checkpoint();
        }
        self.settle()?;
        self.usable()?;
        let waiting = mem::take(&mut self.snapshots.waiting);
        for reply in waiting {
            let _ = reply.send(Ok(self.newest.clone()));
        }
        Ok(())
    }
}
