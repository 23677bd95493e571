//! Units whose changes are too large for a group.

use std::sync::Arc;

use odm_store::{
    FeedChanges, Result, UnitOfWork,
    metrics::{self, CommitThread},
};

use super::{
    super::{engine::Engine, snapshot::Snapshot, transaction::EmbeddedTransaction, work::Work},
    Commit, Writer,
    group::{Member, run_unit},
};

impl Writer {
    /// Runs a unit in a transaction of the engine of its own, and answers.
    ///
    /// The commit is durable even if less was requested: most changes are on the disk by then.
    pub(super) fn run_large(&mut self, member: Member) {
        let Member { unit, reply, .. } = member;
        let (snapshot, changes, result) = match self.try_large(&*unit) {
            Ok((snapshot, changes)) => (Some(snapshot), vec![changes], Ok(())),
            Err(error) => (None, Vec::new(), Err(error)),
        };
        self.syncer.push(Commit {
            snapshot,
            durable: true,
            changes,
            answers: vec![(reply, result)],
        });
    }

    fn try_large(&mut self, unit: &dyn UnitOfWork) -> Result<(Arc<Snapshot>, FeedChanges)> {
        // No checkpoint is possible while the transaction is open, and its changes are not in the log.
        self.make_durable()?;
        if self.compactions.is_near() {
            // It would begin again after the unit.
            self.finish_compaction();
            self.usable()?;
        }
        let begun = self.checkpoints.engine().and_then(Engine::begin);
        let transaction = Arc::new(begun.map_err(|error| self.fail(error))?);
        let work = Work::for_large_unit(
            &self.newest,
            transaction.clone(),
            self.published.feed.begin(),
        );
        let mut unit_transaction = EmbeddedTransaction::for_units(work);
        let ran = run_unit(unit, &mut unit_transaction, self.settings.transaction_limit)
            .and_then(|()| unit_transaction.work.finish_large_unit());
        if let Err(error) = ran {
            let engine = self.checkpoints.engine();
            if let Err(failure) = engine.and_then(|engine| engine.abort(&transaction)) {
                self.fail(failure);
            }
            return Err(error);
        }
        let engine = self.checkpoints.engine();
        let committed = engine.and_then(|engine| {
            engine.commit_open(&transaction)?;
            engine.newest()
        });
        // From this point on, the unit may be on the disk.
        let base = Arc::new(committed.map_err(|error| self.fail(error))?);
        metrics::commit(1, CommitThread::Store);
        let commit = self.newest.memtables.commit + 1;
        self.history.forget(commit);
        self.newest = Arc::new(Snapshot {
            base: base.clone(),
            memtables: self.memtable.state(self.checkpoints.frozen(), commit),
            schema: unit_transaction.work.schema.clone(),
            settings: self.settings.clone(),
        });
        self.mirror(base, None);
        Ok((self.newest.clone(), unit_transaction.work.changes.take()))
    }
}
