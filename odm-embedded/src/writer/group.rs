//! Units that are committed together.

use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::{Either, select};
use odm_store::{Durability, Error, ErrorKind, FeedChanges, Result, Transaction, UnitOfWork};

use super::{
    super::{
        queue::{Reply, Request},
        transaction::EmbeddedTransaction,
        wait::{block_on, end_of, panic_message},
        work::Work,
    },
    Answers, Writer,
};

/// The greatest number of units in one commit.
const MAX_UNITS: usize = 1024;

/// The longest delay of a commit for units that are expected.
const MAX_DELAY: Duration = Duration::from_micros(500);

/// A unit, its durability, and the channel for its answer.
pub(super) type Member = (Arc<dyn UnitOfWork>, Durability, Reply<()>);

/// Units that have run and will be committed together.
pub(super) struct Group {
    transaction: EmbeddedTransaction,
    answers: Answers,
    durable: bool,
    /// The watched changes of each successful unit.
    changes: Vec<FeedChanges>,
}

/// Measurements of the last group.
#[derive(Debug, Default)]
pub(super) struct CommitPacing {
    /// The number of its units.
    units: usize,
    /// The duration of its commit, without the sync.
    commit: Duration,
}

impl Group {
    pub(super) fn new(work: Work) -> Group {
        Group {
            transaction: EmbeddedTransaction::for_units(work.into_group()),
            answers: Vec::new(),
            durable: false,
            changes: Vec::new(),
        }
    }

    /// Creates a group that begins with the work of a transaction.
    pub(super) fn with_transaction(
        mut work: Work,
        durability: Durability,
        reply: Reply<()>,
    ) -> Group {
        let changes = work.changes.take();
        let mut group = Group::new(work);
        group.changes.push(changes);
        group.durable = durability == Durability::Immediate;
        group.answers.push((reply, Ok(())));
        group
    }

    fn has_room(&self) -> bool {
        self.answers.len() < MAX_UNITS
            && self.transaction.work.overlay.bytes() < self.transaction.work.settings.group_memory
    }

    /// Runs a unit on the state that the units before it have left. Afterwards it is done as a whole or not at all. Returns a unit that is
    /// too large for a group.
    fn run(&mut self, (unit, durability, reply): Member, limit: Duration) -> Option<Member> {
        if reply.is_closed() {
            // The caller was dropped before the unit began.
            return None;
        }
        let transaction = &mut self.transaction;
        transaction.work.begin_unit();
        let mark = transaction.work.overlay.mark();
        let schema = transaction.work.schema.clone();
        let result = run_unit(&*unit, transaction, limit);
        let outgrown = transaction.work.is_outgrown();
        let changes = transaction.work.changes.take();
        if result.is_err() || outgrown {
            transaction.work.overlay.undo_to(mark);
            transaction.work.schema = schema;
        } else {
            self.changes.push(changes);
        }
        if outgrown {
            return Some((unit, durability, reply));
        }
        self.durable |= durability == Durability::Immediate;
        // The answer waits for the commit even if it is an error, since the unit may have read uncommitted changes.
        self.answers.push((reply, result));
        None
    }
}

/// Runs a unit to its end, its panic or its deadline: `limit` bounds its waits, and the limit of the settings its computation. Its changes
/// are left to the caller.
pub(super) fn run_unit(
    unit: &dyn UnitOfWork,
    transaction: &mut EmbeddedTransaction,
    limit: Duration,
) -> Result<()> {
    transaction.work.begin_time();
    let ran = catch_unwind(AssertUnwindSafe(|| {
        block_on(unit.run(transaction as &mut dyn Transaction), end_of(limit))
    }));
    match ran {
        // A unit that goes on after the error of a call has the same limit.
        Ok(Some(result)) => result.and_then(|()| transaction.work.check_time()),
        Ok(None) => Err(Error::new(
            ErrorKind::TransactionExpired,
            format!(
                "unit of work timed out: it waited for something else than the store for {limit:?}; wait \
                 outside of it, or raise `transaction_limit`"
            ),
        )),
        Err(panic) => Err(Error::new(
            ErrorKind::TransactionAborted,
            format!("unit of work panicked: {}", panic_message(&*panic)),
        )),
    }
}

impl Writer {
    /// Adds the waiting units to a group, and commits it.
    pub(super) fn run_group(&mut self, mut group: Group, first: Option<Member>) {
        if let Err(error) = self.usable() {
            let answers = group.answers.into_iter().map(|(reply, _)| reply);
            for reply in answers.chain(first.map(|(.., reply)| reply)) {
                let _ = reply.send(Err(error.clone()));
            }
            return;
        }
        let limit = self.settings.transaction_limit;
        let mut large = first.and_then(|member| group.run(member, limit));
        let mut patience = None;
        while large.is_none() && group.has_room() {
            match self.next_member(&group, &mut patience) {
                ControlFlow::Break(()) => break,
                ControlFlow::Continue(None) => {}
                ControlFlow::Continue(Some(Request::Unit {
                    unit,
                    durability,
                    reply,
                })) => {
                    large = group.run((unit, self.durability(durability), reply), limit);
                }
                ControlFlow::Continue(other) => {
                    self.next = other;
                    break;
                }
            }
        }
        // Under permanent load the writer never waits long enough for the flush to become due.
        let overdue = self.flush_due().is_some_and(|due| due <= Instant::now());
        let units = group.answers.len();
        let started = Instant::now();
        self.commit(
            &group.transaction.work,
            group.durable,
            group.changes,
            group.answers,
        );
        self.pacing = CommitPacing {
            units,
            commit: started.elapsed(),
        };
        if overdue {
            self.flush();
        }
        if let Some(member) = large {
            self.run_large(member);
        }
    }

    /// The next request for a group, if one waits or comes soon; `None` to ask again.
    fn next_member(
        &mut self,
        group: &Group,
        patience: &mut Option<Instant>,
    ) -> ControlFlow<(), Option<Request>> {
        if let Ok(request) = self.requests.try_recv() {
            return ControlFlow::Continue(Some(request));
        }
        if !group.durable {
            return ControlFlow::Break(());
        }
        if self.syncer.is_busy() {
            // A commit now would wait for the running sync, and then for its own.
            let (request, idle) = (pin!(self.requests.recv()), pin!(self.syncer.idle()));
            return match block_on(select(request, idle), None) {
                Some(Either::Left((None, _))) | None => ControlFlow::Break(()),
                Some(Either::Left((request, _))) => ControlFlow::Continue(request),
                Some(Either::Right(_)) => ControlFlow::Continue(None),
            };
        }
        // Units of the callers who were answered last: they may write again at once, and arrive one after another. Waiting for a small part
        // of a commit is cheaper than a commit without them. A single caller never waits.
        if group.answers.len() >= self.pacing.units {
            return ControlFlow::Break(());
        }
        let commit = self.pacing.commit.saturating_add(self.syncer.duration());
        let delay = (commit / 8).min(MAX_DELAY);
        *patience = patience.or_else(|| end_of(delay));
        match block_on(self.requests.recv(), *patience).flatten() {
            None => ControlFlow::Break(()),
            request => ControlFlow::Continue(request),
        }
    }

    /// The requested durability, limited by the store's.
    pub(super) fn durability(&self, asked: Durability) -> Durability {
        match self.settings.durability {
            Durability::Immediate => asked,
            Durability::Eventual => Durability::Eventual,
        }
    }
}
