//! The writer, which one thread uses at a time.
//!
//! A caller uses it for its own unit or transaction if nobody else writes (see `lead`). All else is the work of a thread of the store. It
//! takes requests from the queue, in their order. Units run one after another on the newest state and the changes of the units before them,
//! and are committed together: the units that wait during one commit form the next group. A unit that fails is undone alone. A unit whose
//! changes are too large for a group runs by itself (see `large`).
//!
//! The order of one group: run the units; append their changes to the log; begin to sync it; add them to the memtable. The writer then goes
//! on with the next group. Once the log is synced, another thread (see `sync`) publishes the new state and answers. So no change is visible
//! before it is as durable as requested, and a caller who has an answer sees their own write.
//!
//! A third thread writes a memtable into the engine, at a checkpoint (see `checkpoint`): if it or the segment of the log is full, and
//! before all that needs the engine. The writer goes on meanwhile, and waits only if it needs another checkpoint. A store in memory has no
//! log.

mod checkpoint;
mod compact;
mod conflicts;
mod group;
mod indexes;
mod large;
mod lead;
mod snapshots;
mod store;
mod sync;

use std::{
    collections::VecDeque,
    iter,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use odm_store::{
    Error, ErrorKind, FeedChanges, Result,
    metrics::{self, CommitThread},
};
use tokio::sync::{Notify, mpsc::error::TryRecvError};
use tracing::error;

use self::{
    checkpoint::Checkpoints,
    compact::Compactions,
    conflicts::History,
    indexes::Ensure,
    snapshots::SnapshotRequests,
    store::Unlogged,
    sync::{Answers, Commit, Syncer},
};
use super::{
    engine::{Engine, WriteStop},
    log::Log,
    memtable::{Memtable, Memtables},
    open::{FrozenMemtable, Opened},
    place::StoreFile,
    queue::{Reply, Request, Requests, ReservedState},
    reservations::{Awaited, LostReads, Reservations},
    settings::Settings,
    snapshot::{Published, Snapshot},
    wait::{block_on, panic_message},
    work::Work,
};

/// The memory of a memtable at which a checkpoint begins, in bytes.
const MEMTABLE: usize = 32 << 20;

/// The writer, for its thread and for the callers who lead.
pub(super) struct SharedWriter {
    /// `None` once the store is closed.
    writer: Mutex<Option<Writer>>,
    /// Wakes the thread.
    pub(super) wake: Arc<Notify>,
}

/// The state of the writer.
pub(super) struct Writer {
    checkpoints: Checkpoints,
    compactions: Compactions,
    snapshots: SnapshotRequests,
    file: Box<dyn StoreFile>,
    /// `None` for a store in memory.
    log: Option<Log>,
    syncer: Syncer,
    requests: Requests,
    /// A request that was taken from the queue and has not begun.
    next: Option<Request>,
    reservations: Reservations,
    /// Units and commits that wait for a reservation.
    held: Vec<(Awaited, Request)>,
    /// Those of them that need not wait any more.
    released: VecDeque<Request>,
    /// The callers who wait for indexes.
    ensures: VecDeque<Ensure>,
    /// The begin of the present turn of the requests, during a build; `None` in the turn of a portion.
    turn_began: Option<Instant>,
    /// How long the last turn of the requests was.
    turn: Duration,
    /// Whether the remains of removed indexes could not be swept.
    is_sweep_stuck: bool,
    published: Arc<Published>,
    settings: Arc<Settings>,
    /// The newest state, which may be neither durable nor published yet.
    newest: Arc<Snapshot>,
    /// The changes since the last checkpoint began.
    memtable: Memtable,
    /// The changes before these that open transactions may not have seen.
    history: History,
    /// The time of the first commit that a crash may undo, and that no caller waits for.
    unflushed: Option<Instant>,
    /// The time of the first commit since the last checkpoint began.
    uncheckpointed: Option<Instant>,
    unlogged: Unlogged,
    /// The error of all further writes, once the disk has failed.
    failure: Option<Error>,
    /// Measurements of the last group, from which the wait for further units is derived.
    pacing: group::CommitPacing,
}

/// An event that the thread handles.
enum Event {
    Request(Request),
    /// A portion of an index is to be built or removed.
    Portion,
    CheckpointEnded,
    CheckpointDue,
    SnapshotDue,
    CompactionEnded,
    CompactionDue,
    FlushDue,
    /// All handles of the store are gone.
    Deserted,
}

impl SharedWriter {
    pub(super) fn new(
        mut open: Opened,
        requests: Requests,
        published: Arc<Published>,
    ) -> Result<SharedWriter> {
        let wake = Arc::new(Notify::new());
        let frozen = open.frozen.take();
        let mut writer = Writer::new(open, requests, published, wake.clone());
        // What a crash has left in the log.
        if let Some(FrozenMemtable {
            tables,
            bytes,
            named,
        }) = frozen
        {
            writer.checkpoints.begin(tables, bytes, Some(named))?;
        } else if !writer.memtable.is_empty() {
            writer.begin_checkpoint()?;
        }
        Ok(SharedWriter {
            writer: Mutex::new(Some(writer)),
            wake,
        })
    }

    /// The body of the thread: serves requests until the store is closed or all its handles are gone.
    pub(super) fn run(&self) {
        let _ended = Ended(self);
        loop {
            // A caller who leads has panicked otherwise, and the state is unknown.
            let Ok(mut writer) = self.writer.lock() else {
                return error!("the writer has panicked");
            };
            let Some(now) = &mut *writer else { return };
            let Some(event) = now.next_event() else {
                let due = now.due();
                drop(writer);
                block_on(self.wake.notified(), due);
                continue;
            };
            if let ControlFlow::Break(closing) = now.serve(event) {
                // No caller can lead from here on.
                if let Some(writer) = writer.take() {
                    writer.end(closing);
                }
                return;
            }
        }
    }
}

/// Ends all waits for a writer whose thread has ended.
struct Ended<'s>(&'s SharedWriter);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let writer = self.0.writer.lock();
        drop(writer.unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Writer {
    fn new(
        open: Opened,
        requests: Requests,
        published: Arc<Published>,
        wake: Arc<Notify>,
    ) -> Writer {
        let Opened {
            engine,
            file,
            log,
            memtable,
            newest,
            ..
        } = open;
        Writer {
            checkpoints: Checkpoints::new(engine, wake),
            compactions: Compactions::default(),
            snapshots: SnapshotRequests::default(),
            file,
            log,
            syncer: Syncer::new(published.clone()),
            requests,
            next: None,
            reservations: Reservations::default(),
            held: Vec::new(),
            released: VecDeque::new(),
            ensures: VecDeque::new(),
            turn_began: None,
            turn: Duration::ZERO,
            is_sweep_stuck: false,
            published,
            settings: newest.settings.clone(),
            newest,
            uncheckpointed: (!memtable.is_empty()).then(Instant::now),
            memtable,
            history: History::default(),
            unflushed: None,
            unlogged: Unlogged::default(),
            failure: None,
            pacing: group::CommitPacing::default(),
        }
    }

    /// Breaks if the store is to be closed.
    fn serve(&mut self, event: Event) -> ControlFlow<Option<Reply<()>>> {
        match event {
            Event::FlushDue => self.flush(),
            Event::Portion => self.run_portion(),
            Event::CheckpointEnded => {
                // The error is kept as the writer's, too.
                if let Err(error) = self.follow_checkpoint() {
                    self.compactions.refuse(&error);
                }
            }
            Event::CheckpointDue => drop(self.begin_checkpoint()),
            Event::SnapshotDue => self.prepare_snapshots(),
            Event::CompactionEnded => self.finish_compaction(),
            Event::CompactionDue => self.prepare_compaction(),
            Event::Deserted => return ControlFlow::Break(None),
            Event::Request(member @ (Request::Unit { .. } | Request::Commit { .. })) => {
                self.run_group(member);
            }
            Event::Request(Request::Reserve { lost, reply }) => {
                let _ = reply.send(self.reserve(lost));
            }
            Event::Request(Request::Ensure { collections, reply }) => {
                self.ensure(collections, reply);
            }
            // The caller was dropped before it began.
            Event::Request(Request::Check { reply }) if reply.is_closed() => {}
            Event::Request(Request::Snapshot { reply }) => self.snapshots.add(reply),
            Event::Request(Request::Check { reply }) => {
                let checked = self.check();
                let _ = reply.send(checked.map(|()| self.newest.clone()));
            }
            Event::Request(Request::Compact { reply }) => self.compact(reply),
            Event::Request(Request::Close { reply }) => return ControlFlow::Break(Some(reply)),
        }
        ControlFlow::Continue(())
    }

    /// Makes all commits durable, closes the file, and answers the request to close the store.
    fn end(mut self, closing: Option<Reply<()>>) {
        // The error is kept as the writer's from here on.
        let _ = self.settle().and_then(|()| self.finish_checkpoint());
        let closed = || Error::new(ErrorKind::Closed, "the store is closed");
        self.compactions.end(&closed());
        self.snapshots.refuse(&closed());
        self.published
            .close(self.failure.clone().unwrap_or_else(closed));
        let held = self.held.drain(..).map(|(_, request)| request);
        for request in held.chain(self.released.drain(..)) {
            request.refuse(closed());
        }
        let Writer {
            checkpoints,
            mut log,
            syncer,
            mut requests,
            newest,
            mut failure,
            ..
        } = self;
        let memtables = newest.memtables.clone();
        // The last commit frees the pages of earlier states, if they have no readers.
        drop((newest, syncer));
        let mut engine = checkpoints.into_engine();
        if failure.is_none()
            && let (Some(engine), Some(log)) = (&mut engine, &mut log)
            && let Err(cause) = close_log(engine, log, &memtables)
        {
            failure = Some(stop(&engine.write_stop(), cause));
        }
        // The files must be free for other processes before a caller learns that the store is closed.
        let close = || match (engine, &failure) {
            (None, _) => Ok(()),
            (Some(engine), None) => engine.end(),
            (Some(engine), Some(_)) => {
                engine.leave();
                Ok(())
            }
        };
        match catch_unwind(AssertUnwindSafe(close)) {
            Ok(Ok(())) => {}
            Ok(Err(cause)) => failure = Some(not_closed(cause)),
            Err(panic) => error!(
                "the engine failed while it was closed: {}",
                panic_message(&*panic)
            ),
        }
        drop(log);
        if let Some(reply) = closing {
            let _ = reply.send(failure.map_or(Ok(()), Err));
        }
        requests.close();
        while let Ok(request) = requests.try_recv() {
            request.refuse(closed());
        }
    }

    /// The next work of the thread, if there is any now.
    fn next_event(&mut self) -> Option<Event> {
        if self.checkpoints.has_ended() {
            return Some(Event::CheckpointEnded);
        }
        if !self.checkpoints.is_running() {
            if self.compactions.is_over() {
                return Some(Event::CompactionEnded);
            }
            if self.compactions.is_due() {
                return Some(Event::CompactionDue);
            }
            if self.snapshots.is_due() {
                return Some(Event::SnapshotDue);
            }
        }
        let turn_began = self.turn_began.take();
        let has_portion = self.has_portion();
        if has_portion {
            // In turns, so that neither waits for all work of the other.
            if let Some(began) = turn_began {
                self.turn = began.elapsed();
                return Some(Event::Portion);
            }
            self.turn = Duration::ZERO;
        }
        self.release();
        let taken = self.next.take().or_else(|| self.released.pop_front());
        let next = taken.map_or_else(|| self.requests.try_recv(), Ok);
        match next {
            Ok(request) => {
                self.turn_began = has_portion.then(Instant::now);
                Some(Event::Request(request))
            }
            Err(TryRecvError::Disconnected) => Some(Event::Deserted),
            Err(TryRecvError::Empty) if has_portion => Some(Event::Portion),
            Err(TryRecvError::Empty) if self.is_flush_due() => Some(Event::FlushDue),
            Err(TryRecvError::Empty) if self.is_checkpoint_due() => Some(Event::CheckpointDue),
            Err(TryRecvError::Empty) => None,
        }
    }

    /// Whether a caller, or the end of the store, waits for the writer.
    fn has_request(&self) -> bool {
        self.next.is_some()
            || !self.released.is_empty()
            || !self.requests.is_empty()
            || self.requests.is_closed()
    }

    fn flush_due(&self) -> Option<Instant> {
        self.unflushed
            .and_then(|since| since.checked_add(self.settings.flush_interval))
    }

    fn is_flush_due(&self) -> bool {
        is_over(self.flush_due())
    }

    /// The time of the next checkpoint, unless one is running: its end wakes the thread.
    fn checkpoint_due(&self) -> Option<Instant> {
        let interval = self.settings.checkpoint_interval;
        let since = self.uncheckpointed?;
        let is_possible = self.failure.is_none() && !self.checkpoints.is_running();
        since.checked_add(interval).filter(|_| is_possible)
    }

    fn is_checkpoint_due(&self) -> bool {
        is_over(self.checkpoint_due())
    }

    /// When the thread has work, if nobody wakes it before.
    fn due(&self) -> Option<Instant> {
        let due = self.flush_due().into_iter().chain(self.checkpoint_due());
        let held = self.held.iter().filter_map(|(awaited, _)| awaited.until);
        due.chain(held).min()
    }

    /// Returns the error of an earlier failure of the disk.
    fn usable(&mut self) -> Result<()> {
        if self.failure.is_none()
            && let Some(cause) = self.syncer.failure()
        {
            self.fail(cause);
        }
        match &self.failure {
            None => Ok(()),
            Some(failure) => Err(failure.clone()),
        }
    }

    /// Work on the newest state.
    fn begin(&self) -> Work {
        Work::new(self.newest.clone(), self.published.feed.begin())
    }

    /// Commits work, and answers when it is visible and as durable as requested.
    ///
    /// After an error it is unknown whether the disk has the work. The work does not become visible, and there are no further writes,
    /// before the store is opened again; it then has all of the work or nothing.
    fn commit(&mut self, work: &Work, durable: bool, changes: Vec<FeedChanges>, answers: Answers) {
        let units = answers.len();
        let stored = match work.overlay.is_empty() {
            // An answer that a commit is durable holds for the commits before it, too.
            true if durable => self.finish_unlogged().map(|()| None),
            true => self.usable().map(|()| None),
            false => self.store(work, durable, units).map(Some),
        };
        match stored {
            Ok(snapshot) => {
                if durable {
                    self.unflushed = None;
                }
                if snapshot.is_some() {
                    metrics::commit(units, CommitThread::Store);
                }
                self.syncer.push(Commit {
                    snapshot,
                    durable,
                    changes,
                    answers,
                });
            }
            Err(error) => {
                for (reply, _) in answers {
                    let _ = reply.send(Err(error.clone()));
                }
            }
        }
    }

    /// Reserves entries for a transaction, and begins it on a state that has all commits of before.
    fn reserve(&mut self, lost: Arc<LostReads>) -> Result<ReservedState> {
        self.settle()?;
        let (state, open) = self.published.begin()?;
        let (time, wake) = (self.settings.reservation, self.checkpoints.wake());
        let reservation = self.reservations.add(lost, time, wake);
        Ok((state, open, reservation))
    }

    /// Takes the requests that wait for no reservation any more.
    fn release(&mut self) {
        let over = self.held.extract_if(.., |(awaited, _)| awaited.is_over());
        self.released.extend(over.map(|(_, request)| request));
    }

    /// Waits until all commits are published or refused.
    fn settle(&mut self) -> Result<()> {
        self.syncer.drain();
        self.usable()
    }

    /// Verifies the checksums of both files.
    fn check(&mut self) -> Result<()> {
        self.settle()?;
        self.finish_checkpoint()?;
        let logged = self.log.as_ref().map_or(Ok(()), Log::verify);
        // The file then has what a guest needs to open it, and the commits that the log may have lost.
        self.checkpoint()?;
        self.checkpoints.engine()?.check_file().and(logged)
    }

    /// Makes a checkpoint, unless the engine has made all commits durable already.
    fn make_durable(&mut self) -> Result<()> {
        self.finish_checkpoint()?;
        match self.memtable.is_empty() {
            true => self.usable(),
            false => self.checkpoint(),
        }
    }

    /// Begins to make the commits durable that no caller waits for.
    fn flush(&mut self) {
        if self.unflushed.take().is_none() || self.failure.is_some() {
            return;
        }
        self.syncer.begin_sync();
    }

    /// Stops all writing.
    #[cold]
    fn fail(&mut self, cause: Error) -> Error {
        let error = commit_failed(&cause);
        self.failure = Some(stop(self.checkpoints.write_stop(), cause));
        error
    }
}

fn is_over(due: Option<Instant>) -> bool {
    due.is_some_and(|due| due <= Instant::now())
}

/// Ends all writes of the engine. Returns the error of all later writes.
#[cold]
fn stop(writes: &WriteStop, cause: Error) -> Error {
    let message =
        format!("writer failed: {cause}; the store refuses writes until it is opened again");
    error!("{message}");
    writes.refuse(&cause);
    Error::new(ErrorKind::Closed, message).with_source(cause)
}

/// The error of a store whose file could not be marked as closed.
#[cold]
fn not_closed(cause: Error) -> Error {
    let message = format!(
        "store not closed: {cause}; all commits are in it, and the next open checks its file as after a crash"
    );
    error!("{message}");
    Error::new(cause.kind(), message).with_source(cause)
}

/// Makes the last checkpoint, after which the store needs no log, and removes the log.
fn close_log(engine: &mut Engine, log: &mut Log, memtables: &Memtables) -> Result<()> {
    let Some(closed) = log.end_generation()? else {
        return Ok(());
    };
    let changes = memtables.changes();
    engine.commit_last(checkpoint::changes(Some(&closed), &changes))?;
    // Frees the pages that the first commit has replaced: see `commit_last`.
    engine.commit_last(iter::empty())?;
    // Before this is done, another process cannot open the store and make a log.
    log.remove()
}

/// The error of callers whose commit has failed.
fn commit_failed(cause: &Error) -> Error {
    let message = format!(
        "commit failed: {cause}; nothing of it is visible, and the store must be opened again to \
         know whether it was stored"
    );
    Error::new(cause.kind(), message).with_source(cause.clone())
}

impl Request {
    /// Answers a request that arrives after the store was closed.
    fn refuse(self, error: Error) {
        match self {
            Request::Unit { reply, .. }
            | Request::Commit { reply, .. }
            | Request::Ensure { reply, .. } => {
                drop(reply.send(Err(error)));
            }
            // The store is closed by now.
            Request::Close { reply } => drop(reply.send(Ok(()))),
            Request::Snapshot { reply } | Request::Check { reply } => drop(reply.send(Err(error))),
            Request::Reserve { reply, .. } => drop(reply.send(Err(error))),
            Request::Compact { reply } => drop(reply.send(Err(error))),
        }
    }
}
