//! Units that are committed together.

use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::{BoxFuture, Either, select};
use odm_store::{
    Durability, Error, ErrorKind, FeedChanges, Result, Transaction, UnitOfWork, metrics,
};

use super::{
    super::{
        overlay::{JournalPosition, Overlay},
        queue::{Reply, Request},
        reservations::{Awaited, Reservations},
        schema::Schema,
        transaction::{EmbeddedTransaction, PendingCommit},
        wait::{block_on, end_of, panic_message},
        work::{UnitBound, Work},
    },
    Answers, Writer,
    conflicts::{CommitState, lost},
};

/// The greatest number of units in one commit.
const MAX_UNITS: usize = 1024;

/// The longest delay of a commit for units that are expected.
const MAX_DELAY: Duration = Duration::from_micros(500);

/// A unit that is to be committed in a group.
pub(super) struct Member {
    pub(super) unit: Arc<dyn UnitOfWork>,
    pub(super) durability: Durability,
    /// Whether it waits for reservations.
    pub(super) waits: bool,
    pub(super) reply: Reply<()>,
}

/// A unit that its group has not done.
pub(super) enum Undone {
    /// It is too large for a group.
    Large(Member),
    Held(Awaited, Member),
}

/// Units that have run and will be committed together.
pub(super) struct Group {
    transaction: EmbeddedTransaction,
    answers: Answers,
    durable: bool,
    /// The watched changes of each successful unit.
    changes: Vec<FeedChanges>,
}

/// Measurements of the last groups.
#[derive(Debug, Default)]
pub(super) struct CommitPacing {
    /// The number of units of the last one.
    pub(super) units: usize,
    /// The duration of its commit.
    commit: Duration,
    /// How many groups with one unit there were since the last with more.
    pub(super) alone: u32,
}

impl From<Member> for Request {
    fn from(member: Member) -> Request {
        let Member {
            unit,
            durability,
            waits,
            reply,
        } = member;
        Request::Unit {
            unit,
            durability,
            waits,
            reply,
        }
    }
}

impl CommitPacing {
    pub(super) fn note(&mut self, units: usize, commit: Duration) {
        *self = CommitPacing {
            units,
            commit,
            alone: if units > 1 {
                0
            } else {
                self.alone.saturating_add(1)
            },
        };
    }
}

impl Group {
    pub(super) fn new(work: Work) -> Group {
        let bound = UnitBound {
            bytes: work.settings.group_memory,
            documents: u64::MAX,
        };
        Group {
            transaction: EmbeddedTransaction::for_units(work.bounded(bound)),
            answers: Vec::new(),
            durable: false,
            changes: Vec::new(),
        }
    }

    /// Adds the changes of a transaction.
    fn absorb(&mut self, mut work: Work, durability: Durability, reply: Reply<()>) {
        let changed_schema = work.changed_schema().cloned();
        let of_group = &mut self.transaction.work;
        of_group.begin_unit();
        of_group.overlay.absorb(work.overlay);
        if let Some(schema) = changed_schema {
            of_group.schema = schema;
        }
        self.changes.push(work.changes.take());
        self.durable |= durability == Durability::Immediate;
        self.answers.push((reply, Ok(())));
    }

    fn has_room(&self) -> bool {
        self.answers.len() < MAX_UNITS
            && self.transaction.work.overlay.bytes() < self.transaction.work.settings.group_memory
    }

    /// Runs a unit on the state that the units before it have left. Afterwards it is done as a whole, or returned.
    fn run(
        &mut self,
        member: Member,
        limit: Duration,
        reservations: &mut Reservations,
    ) -> Option<Undone> {
        if member.reply.is_closed() {
            // The caller was dropped before the unit began.
            return None;
        }
        let transaction = &mut self.transaction;
        transaction.work.begin_unit();
        let mark = transaction.work.overlay.mark();
        let schema = transaction.work.schema.clone();
        let result = run_unit(&*member.unit, transaction, limit);
        let outgrown = transaction.work.is_outgrown();
        let changes = transaction.work.changes.take();
        let overlay = &mut transaction.work.overlay;
        let is_done = result.is_ok() && !outgrown;
        let held = (is_done && member.waits).then(|| reservations.of(overlay.changed_since(mark)));
        let held = held.flatten();
        if !is_done || held.is_some() {
            overlay.undo_to(mark);
            transaction.work.schema = schema;
        } else {
            self.changes.push(changes);
        }
        if outgrown {
            return Some(Undone::Large(member));
        }
        if let Some(awaited) = held {
            return Some(Undone::Held(awaited, member));
        }
        self.durable |= member.durability == Durability::Immediate;
        // The answer waits for the commit even if it is an error, since the unit may have read uncommitted changes.
        self.answers.push((member.reply, result));
        None
    }
}

/// The result of a check of the reads of a transaction.
pub(super) enum CheckedReads {
    Same,
    /// Only the writes may be others by now.
    ChangedForWrites,
    Changed,
}

/// Runs a unit to its end, its panic or its deadline: `limit` bounds its waits, and the limit of the settings its computation. Its changes
/// are left to the caller.
pub(super) fn run_unit(
    unit: &dyn UnitOfWork,
    transaction: &mut EmbeddedTransaction,
    limit: Duration,
) -> Result<()> {
    let ran = drive_unit(unit, transaction, |unit| block_on(unit, end_of(limit)));
    ran.unwrap_or_else(|| {
        Err(Error::new(
            ErrorKind::TransactionExpired,
            format!(
                "unit of work timed out: it waited for something else than the store for {limit:?}; wait \
                 outside of it, or raise `transaction_limit`"
            ),
        ))
    })
}

/// Runs a unit by `drive` to its end or its panic. The result is that of `drive`.
pub(super) fn drive_unit(
    unit: &dyn UnitOfWork,
    transaction: &mut EmbeddedTransaction,
    drive: impl FnOnce(BoxFuture<'_, Result<()>>) -> Option<Result<()>>,
) -> Option<Result<()>> {
    transaction.work.begin_time();
    let ran = catch_unwind(AssertUnwindSafe(|| {
        drive(unit.run(transaction as &mut dyn Transaction))
    }));
    match ran {
        // A unit that goes on after the error of a call has the same limit.
        Ok(ran) => ran.map(|result| result.and_then(|()| transaction.work.check_time())),
        Err(panic) => Some(Err(Error::new(
            ErrorKind::TransactionAborted,
            format!("unit of work panicked: {}", panic_message(&*panic)),
        ))),
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
                    waits,
                    reply,
                })) => Some(Member {
                    unit,
                    durability: self.durability(durability),
                    waits,
                    reply,
                }),
                ControlFlow::Continue(Some(Request::Commit { pending, reply })) => {
                    self.check_reads(&mut group, pending, reply)
                }
                ControlFlow::Continue(other) => {
                    self.next = other;
                    break None;
                }
            };
            let reservations = &mut self.reservations;
            match member.and_then(|member| group.run(member, limit, reservations)) {
                Some(Undone::Large(member)) => break Some(member),
                Some(Undone::Held(awaited, member)) => self.hold(awaited, member.into()),
                None => {}
            }
            if !group.has_room() {
                break None;
            }
            next = self.next_member(&group, &mut patience);
        };
        // Under permanent load the writer never waits long enough for the flush to become due.
        let overdue = self.is_flush_due();
        let units = group.answers.len();
        let started = Instant::now();
        self.commit(
            &group.transaction.work,
            group.durable,
            group.changes,
            group.answers,
        );
        self.pacing.note(units, started.elapsed());
        if overdue {
            self.flush();
        }
        if let Some(member) = large {
            self.run_large(member);
        }
    }

    /// Adds the changes of a transaction to a group, if its reads have the same results in the newest state. Returns a unit that makes its
    /// writes again if only these have read anything that has changed.
    fn check_reads(
        &mut self,
        group: &mut Group,
        pending: Box<PendingCommit>,
        reply: Reply<()>,
    ) -> Option<Member> {
        let of_group = &group.transaction.work;
        let checked = self.checked(&pending, &of_group.overlay, &of_group.schema);
        let durability = self.durability(pending.durability);
        match (checked, &pending.rewrites) {
            (CheckedReads::Same, _) => {
                let start = JournalPosition::default();
                let changed = pending.work.overlay.changed_since(start);
                match pending.waits.then(|| self.reservations.of(changed)) {
                    Some(Some(awaited)) => self.hold(awaited, Request::Commit { pending, reply }),
                    _ => group.absorb(pending.work, durability, reply),
                }
            }
            (CheckedReads::ChangedForWrites, Some(rewrites)) => {
                metrics::transaction_rewrite();
                return Some(Member {
                    unit: rewrites.clone(),
                    durability,
                    waits: pending.waits,
                    reply,
                });
            }
            _ => {
                let lost = self.lost(&pending, &of_group.overlay, &of_group.schema);
                group.answers.push((reply, Err(lost)));
            }
        }
        None
    }

    /// Puts a unit or a commit aside until a reservation is over.
    fn hold(&mut self, awaited: Awaited, mut request: Request) {
        match &mut request {
            Request::Unit { waits, .. } => *waits = false,
            Request::Commit { pending, .. } => pending.waits = false,
            _ => {}
        }
        self.held.push((awaited, request));
    }

    fn commit_state<'a>(&'a self, group: &'a Overlay, schema: &'a Arc<Schema>) -> CommitState<'a> {
        CommitState {
            history: &self.history,
            newest: &self.newest.memtables,
            group,
            schema,
        }
    }

    /// The error of a transaction whose reads have changed.
    #[cold]
    pub(super) fn lost(
        &self,
        pending: &PendingCommit,
        group: &Overlay,
        schema: &Arc<Schema>,
    ) -> Error {
        metrics::transaction_conflict();
        let began = &pending.work.base;
        let reads = pending.reads.lock();
        let changed = self
            .commit_state(group, schema)
            .changed(&reads.asked, began);
        drop(reads);
        lost(changed, pending.lost.as_deref(), began)
    }

    /// Whether the reads of a transaction have the same results in the newest state with the changes of a group.
    pub(super) fn checked(
        &self,
        pending: &PendingCommit,
        group: &Overlay,
        schema: &Arc<Schema>,
    ) -> CheckedReads {
        let PendingCommit { work, reads, .. } = pending;
        let reads = reads.lock();
        let state = self.commit_state(group, schema);
        if state.has_changed(&reads.asked, &work.base) {
            return CheckedReads::Changed;
        }
        if state.has_other_entries(work)
            || !work.changes.is_complete()
            || state.has_changed(&reads.for_writes, &work.base)
        {
            return CheckedReads::ChangedForWrites;
        }
        CheckedReads::Same
    }

    /// The next request for a group, if one waits or comes soon; `None` to ask again.
    fn next_member(
        &mut self,
        group: &Group,
        patience: &mut Option<Instant>,
    ) -> ControlFlow<(), Option<Request>> {
        let released = self.released.pop_front();
        if let Some(request) = released.or_else(|| self.requests.try_recv().ok()) {
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
