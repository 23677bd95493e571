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
        reads::Reads,
        transaction::{EmbeddedTransaction, PendingCommit},
        wait::{block_on, end_of, panic_message},
        work::Work,
    },
    Answers, Writer,
    conflicts::CommitState,
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

    /// Adds the changes of a transaction.
    fn absorb(&mut self, mut work: Work, durability: Durability, reply: Reply<()>) {
        let of_group = &mut self.transaction.work;
        of_group.begin_unit();
        of_group.overlay.absorb(work.overlay);
        if !Arc::ptr_eq(&work.schema, &work.base.schema) {
            of_group.schema = work.schema;
        }
        self.changes.push(work.changes.take());
        self.durable |= durability == Durability::Immediate;
        self.answers.push((reply, Ok(())));
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

/// The error of a transaction whose reads have changed.
#[cold]
fn conflict() -> Error {
    Error::new(
        ErrorKind::TransactionAborted,
        "transaction lost: another one has changed what it has read; run it again",
    )
    .retryable()
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
    /// Commits a unit, or a transaction, in a group with the waiting ones.
    pub(super) fn run_group(&mut self, first: Request) {
        if let Err(error) = self.usable() {
            return first.refuse(error);
        }
        let limit = self.settings.transaction_limit;
        let mut group = Group::new(self.begin());
        let mut next = ControlFlow::Continue(Some(first));
        let mut patience = None;
        let large = loop {
            let member = match next {
                ControlFlow::Break(()) => break None,
                ControlFlow::Continue(None) => None,
                ControlFlow::Continue(Some(Request::Unit {
                    unit,
                    durability,
                    reply,
                })) => Some((unit, self.durability(durability), reply)),
                ControlFlow::Continue(Some(Request::Commit(pending))) => {
                    self.check_reads(&mut group, *pending)
                }
                ControlFlow::Continue(other) => {
                    self.next = other;
                    break None;
                }
            };
            let large = member.and_then(|member| group.run(member, limit));
            if large.is_some() || !group.has_room() {
                break large;
            }
            next = self.next_member(&group, &mut patience);
        };
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

    /// Adds the changes of a transaction to a group, if its reads are those of the newest state. Returns a unit that makes its writes again
    /// if only these have read anything that has changed.
    fn check_reads(&mut self, group: &mut Group, pending: PendingCommit) -> Option<Member> {
        let PendingCommit {
            work,
            reads,
            rewrites,
            durability,
            reply,
            ..
        } = pending;
        let durability = self.durability(durability);
        let Reads { asked, for_writes } = reads.take();
        let newest = &group.transaction.work;
        let state = CommitState {
            history: &self.history,
            newest: &self.newest.memtables,
            group: &newest.overlay,
            schema: &newest.schema,
        };
        let must_rewrite = state.has_other_entries(&work)
            || !work.changes.is_complete()
            || state.has_changed(&for_writes, &work.base);
        if state.has_changed(&asked, &work.base) {
            group.answers.push((reply, Err(conflict())));
            return None;
        }
        if must_rewrite {
            let Some(rewrites) = rewrites else {
                group.answers.push((reply, Err(conflict())));
                return None;
            };
            return Some((rewrites, durability, reply));
        }
        group.absorb(work, durability, reply);
        None
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
