//! Transactions that a caller drives: the writer stands still until they end.

use std::time::Instant;

use odm_store::Durability;
use tokio::sync::oneshot;
use tracing::warn;

use super::{
    super::{
        lease::{Expiry, LeaseState},
        queue::Reply,
        transaction::Outcome,
        wait::{block_on, end_of},
        work::Work,
    },
    Commit, Writer,
    group::Group,
};

impl Writer {
    /// Lets a caller write, and waits until the transaction ends or expires.
    pub(super) fn lease(
        &mut self,
        durability: Durability,
        granted: Reply<Work>,
        mut outcome: oneshot::Receiver<Outcome>,
        state: &LeaseState,
    ) {
        if let Err(error) = self.usable() {
            let _ = granted.send(Err(error));
            return;
        }
        state.begin();
        // Only this thread ever commits, so the newest state stays the newest. It may not be durable yet: the
        // answer waits for that.
        if granted.send(Ok(self.begin())).is_err() {
            return;
        }
        let deadline = end_of(self.settings.transaction_limit);
        let ended = loop {
            let is_first = |due: &Instant| deadline.is_none_or(|deadline| *due < deadline);
            let due = self.flush_due().filter(is_first);
            match block_on(&mut outcome, due.or(deadline)) {
                Some(ended) => break ended.ok(),
                None if due.is_some() => self.flush(),
                None => {
                    // The order of commit and expiry is decided here: once the channel is closed, a
                    // commit fails, and an earlier commit is in the channel.
                    let limit = self.settings.transaction_limit;
                    let expiry = state.expire(limit, self.has_request());
                    outcome.close();
                    let ended = outcome.try_recv().ok();
                    if ended.is_none() {
                        let hint = match expiry {
                            Expiry::Slow => "",
                            Expiry::Idle(_) => "; it may await a write made outside of it",
                        };
                        warn!("transaction rolled back: it was open for more than {limit:?}{hint}");
                    }
                    break ended;
                }
            }
        };
        let durability = self.durability(durability);
        match ended {
            Some(Outcome::Commit(work, reply)) => {
                self.run_group(Group::with_transaction(*work, durability, reply), None);
            }
            Some(Outcome::Rollback(reply)) => self.syncer.push(Commit {
                snapshot: None,
                durable: durability == Durability::Immediate,
                changes: Vec::new(),
                answers: vec![(reply, Ok(()))],
            }),
            None => {}
        }
    }
}
