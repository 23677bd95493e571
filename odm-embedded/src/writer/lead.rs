//! Commits on the thread of a caller, who *leads* if nobody else writes: such a write changes no thread.
//!
//! A caller leads within one poll, and gives the writer back before that poll returns, so that a task that is not polled holds up nobody.
//! A unit that is too large for a poll runs on the writer's thread: at once if its size is known, else after a caller has begun and undone
//! it. A task that writes again and again lets others run after each millisecond of that.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use odm_store::{
    Durability,
    metrics::{self, CommitThread},
};

use super::{
    super::{
        overlay::Overlay,
        queue::{Reply, Request},
        schema::Schema,
        transaction::{EmbeddedTransaction, PendingCommit},
        work::{UnitBound, Work},
    },
    Commit, MEMTABLE, SharedWriter, Writer,
    group::{CheckedReads, Member, drive_unit},
};

/// The greatest unit that a caller runs: some milliseconds of work. A greater one begins again on the writer's thread: so few documents that
/// this costs little, and more bytes than one document has, as a rule.
const MAX_UNIT: UnitBound = UnitBound {
    bytes: 4 << 20,
    documents: 256,
};

/// The longest sync that a caller makes. A longer one blocks too many other tasks of its thread.
const MAX_SYNC: Duration = Duration::from_micros(500);

/// After how many groups of one unit a caller makes the sync.
///
/// Nobody can be seen waiting on the thread of the caller, if that is the only one of a runtime. So every eighth sync is made by another
/// thread: if units arrive meanwhile, they form a group.
const MIN_ALONE: u32 = if cfg!(test) { 8 } else { 64 };
const PROBE: u32 = 8;

impl SharedWriter {
    /// Carries out a request on this thread. Returns one for the thread of the writer: if that has other work, or for a unit that is too
    /// large or waits for something else than the store.
    pub(in super::super) fn lead(&self, request: Request) -> Option<Request> {
        let Ok(mut writer) = self.writer.try_lock() else {
            return Some(request);
        };
        let Some(writer) = &mut *writer else {
            return Some(request);
        };
        let before = writer.due();
        let left = writer.lead(request);
        if writer
            .due()
            .is_some_and(|due| before.is_none_or(|before| due < before))
        {
            // The thread sleeps for too long.
            self.wake.notify_one();
        }
        left
    }
}

impl Writer {
    fn lead(&mut self, request: Request) -> Option<Request> {
        let is_calm = self.usable().is_ok()
            && self.pacing.units <= 1
            && self.memtable.bytes() < MEMTABLE
            && self.unlogged.is_empty()
            && !self.has_request()
            && !self.has_portion()
            && self.held.is_empty()
            && self.reservations.is_empty()
            && !self.syncer.is_busy();
        match request {
            Request::Unit {
                unit,
                durability,
                waits,
                reply,
            } if is_calm && unit.documents() <= MAX_UNIT.documents => self.lead_unit(Member {
                unit,
                durability,
                waits,
                reply,
            }),
            Request::Commit { pending, reply } if is_calm => self.lead_transaction(pending, reply),
            other => Some(other),
        }
    }

    fn lead_unit(&mut self, member: Member) -> Option<Request> {
        let Member {
            unit,
            durability,
            waits,
            reply,
        } = member;
        let bound = UnitBound {
            bytes: MAX_UNIT.bytes.min(self.settings.group_memory),
            ..MAX_UNIT
        };
        let work = self.begin().bounded(bound).yielding();
        let mut transaction = EmbeddedTransaction::for_units(work);
        let ran = drive_unit(&*unit, &mut transaction, |unit| unit.now_or_never());
        let mut work = transaction.work;
        let reply = match ran.filter(|_| !work.is_outgrown()) {
            None => Some(reply),
            Some(Ok(())) => {
                let schema = work.schema.clone();
                self.commit_alone(&mut work, schema, durability, reply)
            }
            Some(Err(error)) => {
                // All that the unit has read is published, since no commit waits.
                let _ = reply.send(Err(error));
                None
            }
        };
        reply.map(|reply| Request::Unit {
            unit,
            durability,
            waits,
            reply,
        })
    }

    fn lead_transaction(
        &mut self,
        mut pending: Box<PendingCommit>,
        reply: Reply<()>,
    ) -> Option<Request> {
        let newest = self.newest.schema.clone();
        let reply = match self.checked(&pending, &Overlay::default(), &newest) {
            CheckedReads::Same => {
                let PendingCommit {
                    work, durability, ..
                } = &mut *pending;
                let schema = work.changed_schema().cloned().unwrap_or(newest);
                self.commit_alone(work, schema, *durability, reply)
            }
            CheckedReads::ChangedForWrites => Some(reply),
            CheckedReads::Changed => {
                let lost = self.lost(&pending, &Overlay::default(), &newest);
                let _ = reply.send(Err(lost));
                None
            }
        };
        reply.map(|reply| Request::Commit { pending, reply })
    }

    /// Commits the changes of one caller, unless the log has no room for them: then the channel for the answer is returned.
    fn commit_alone(
        &mut self,
        work: &mut Work,
        schema: Arc<Schema>,
        durability: Durability,
        reply: Reply<()>,
    ) -> Option<Reply<()>> {
        let started = Instant::now();
        let durable = self.durability(durability) == Durability::Immediate;
        let alone = self.pacing.alone;
        let syncs = alone >= MIN_ALONE
            && !alone.is_multiple_of(PROBE)
            && self.syncer.duration() <= MAX_SYNC;
        let mut snapshot = None;
        if !work.overlay.is_empty() {
            match self.append(&work.overlay, 1) {
                Ok(true) => {}
                Ok(false) => return Some(reply),
                Err(error) => {
                    let _ = reply.send(Err(error));
                    return None;
                }
            }
            if !(durable && syncs) {
                self.begin_sync(durable);
            }
            self.remember(&work.overlay, schema);
            self.unlogged.note(false);
            metrics::commit(1, CommitThread::Caller);
            snapshot = Some(self.newest.clone());
        }
        if durable {
            self.unflushed = None;
        }
        self.pacing.note(1, started.elapsed());
        let commit = Commit {
            snapshot,
            durable,
            changes: vec![work.changes.take()],
            answers: vec![(reply, Ok(()))],
        };
        if syncs {
            self.syncer.finish(commit);
        } else {
            self.syncer.push(commit);
        }
        None
    }
}
