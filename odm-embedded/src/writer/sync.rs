//! The thread that syncs the log.
//!
//! During a sync the writer goes on, on a state that is not durable yet. Here its commits wait for the sync, and for the mark in the log
//! that records it; then they are published and answered, in their order. So neither a reader nor an answer reveals a commit before it is
//! as durable as requested.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use odm_store::{Error, ErrorKind, FeedChanges, Result, metrics};
use tokio::sync::Notify;

use super::{
    super::{
        log::Appended,
        queue::Reply,
        snapshot::{Published, Snapshot},
        wait::mark_thread,
    },
    commit_failed,
};

/// The channels of callers, and their answers if the commit succeeds.
pub(super) type Answers = Vec<(Reply<()>, Result<()>)>;

/// A commit of the writer.
pub(super) struct Commit {
    /// The state after it, or `None` if it changed nothing.
    pub(super) snapshot: Option<Arc<Snapshot>>,
    /// Whether it waits for a sync of all records that were appended before.
    pub(super) durable: bool,
    /// Its changes in watched collections, by units.
    pub(super) changes: Vec<FeedChanges>,
    pub(super) answers: Answers,
}

/// The writer's end of the thread, which is started with the first record.
pub(super) struct Syncer {
    shared: Arc<SyncerShared>,
    thread: Option<JoinHandle<()>>,
}

struct SyncerShared {
    state: Mutex<SyncerState>,
    /// Wakes the thread.
    work: Condvar,
    /// Wakes the writer when no commit waits any more.
    idle: Condvar,
    /// The same for a writer that also waits for requests.
    notify: Notify,
    published: Arc<Published>,
}

#[derive(Default)]
struct SyncerState {
    /// The last record that was appended, with the file and all before it.
    last: Option<Appended>,
    /// How many records were appended, must be synced, and are synced, since the store was opened.
    appended: u64,
    wanted: u64,
    synced: u64,
    /// Commits, each with the number of records that must be synced before it if it is durable.
    commits: VecDeque<(u64, Commit)>,
    /// Whether the thread has taken commits, and has not finished them.
    is_finishing: bool,
    /// The duration of the last sync.
    duration: Duration,
    /// The error of the failed sync. No further sync is tried.
    failure: Option<Error>,
    is_ended: bool,
}

impl SyncerState {
    fn is_idle(&self) -> bool {
        self.commits.is_empty() && !self.is_finishing && !self.must_sync()
    }

    fn must_sync(&self) -> bool {
        self.wanted > self.synced && self.failure.is_none()
    }

    /// Takes the first commits that need not wait any more.
    fn take(&mut self) -> Vec<Commit> {
        let mut taken = Vec::new();
        while let Some((record, commit)) = self.commits.front() {
            if commit.durable && *record > self.synced && self.failure.is_none() {
                break;
            }
            taken.extend(self.commits.pop_front().map(|(_, commit)| commit));
        }
        taken
    }
}

impl SyncerShared {
    fn lock(&self) -> MutexGuard<'_, SyncerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The body of the thread.
    fn run(&self) {
        let mut state = self.lock();
        loop {
            state = self.work_off(state);
            if state.is_ended {
                return;
            }
            let woken = self.work.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Syncs, publishes and answers all that is to be.
    fn work_off<'s>(
        &'s self,
        mut state: MutexGuard<'s, SyncerState>,
    ) -> MutexGuard<'s, SyncerState> {
        loop {
            let taken = state.take();
            if !taken.is_empty() {
                state.is_finishing = true;
                let failure = state.failure.clone();
                drop(state);
                finish(&self.published, taken, failure);
                state = self.lock();
                state.is_finishing = false;
            } else if state.must_sync() {
                let (last, target) = (state.last.clone(), state.appended);
                drop(state);
                let started = Instant::now();
                let synced = last.map_or(Ok(()), |last| last.sync());
                let duration = started.elapsed();
                metrics::log_sync(duration);
                state = self.lock();
                state.duration = duration;
                match synced {
                    Ok(()) => state.synced = target,
                    Err(cause) => {
                        let message = format!("cannot sync the log: {cause}");
                        let cause = Error::new(ErrorKind::Io, message).with_source(cause);
                        state.failure = Some(cause);
                    }
                }
            } else {
                return state;
            }
            if state.is_idle() {
                self.tell_idle();
            }
        }
    }

    fn tell_idle(&self) {
        self.idle.notify_all();
        self.notify.notify_one();
    }
}

/// Publishes the state after some commits, then their changes, and answers them.
fn finish(published: &Published, commits: Vec<Commit>, failure: Option<Error>) {
    if let Some(cause) = failure {
        let error = commit_failed(&cause);
        for (reply, _) in commits.into_iter().flat_map(|commit| commit.answers) {
            let _ = reply.send(Err(error.clone()));
        }
        return;
    }
    let newest = commits
        .iter()
        .rev()
        .find_map(|commit| commit.snapshot.clone());
    if let Some(newest) = newest {
        published.publish(newest);
    }
    for commit in commits {
        commit.changes.into_iter().for_each(FeedChanges::publish);
        for (reply, result) in commit.answers {
            let _ = reply.send(result);
        }
    }
}

/// Ends all waits for a thread that has panicked.
struct Panicked<'s>(&'s SyncerShared);

impl Drop for Panicked<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut state = self.0.lock();
            let message = "the thread that syncs the log has panicked";
            state.failure = Some(Error::new(ErrorKind::Io, message));
            state.is_finishing = false;
            // Without a channel, callers are told that the store is closed.
            state.commits.clear();
            self.0.tell_idle();
        }
    }
}

impl Syncer {
    pub(super) fn new(published: Arc<Published>) -> Syncer {
        let shared = SyncerShared {
            state: Mutex::default(),
            work: Condvar::new(),
            idle: Condvar::new(),
            notify: Notify::new(),
            published,
        };
        Syncer {
            shared: Arc::new(shared),
            thread: None,
        }
    }

    /// Notes an appended record.
    pub(super) fn appended(&mut self, last: Appended) -> Result<()> {
        if self.thread.is_none() {
            let shared = self.shared.clone();
            let thread = thread::Builder::new().name("odm-sync".to_owned());
            let thread = thread.spawn(move || {
                mark_thread();
                let _guard = Panicked(&shared);
                shared.run();
            });
            self.thread = Some(thread.map_err(|error| {
                Error::new(ErrorKind::Io, "cannot start the thread that syncs").with_source(error)
            })?);
        }
        let mut state = self.shared.lock();
        state.last = Some(last);
        state.appended += 1;
        Ok(())
    }

    /// Publishes and answers a commit as soon as it is as durable as requested, and all earlier ones are published.
    pub(super) fn push(&self, commit: Commit) {
        let mut state = self.shared.lock();
        if commit.durable {
            state.wanted = state.appended;
        }
        // An eventual commit does not wait for a sync that runs for others.
        let must_wait = commit.durable && state.must_sync();
        if !must_wait && state.commits.is_empty() && !state.is_finishing {
            let failure = state.failure.clone();
            drop(state);
            // Only the writer adds commits: the thread gets none until this is done.
            return finish(&self.shared.published, vec![commit], failure);
        }
        let record = state.appended;
        state.commits.push_back((record, commit));
        self.shared.work.notify_one();
    }

    /// Does the same on this thread, without the other one. No other commit may wait.
    pub(super) fn finish(&self, commit: Commit) {
        let mut state = self.shared.lock();
        let record = state.appended;
        if commit.durable {
            state.wanted = record;
        }
        state.commits.push_back((record, commit));
        drop(self.shared.work_off(state));
    }

    /// Begins to sync all records.
    pub(super) fn begin_sync(&self) {
        let mut state = self.shared.lock();
        state.wanted = state.appended;
        self.shared.work.notify_one();
    }

    /// Waits until no commit waits any more.
    pub(super) fn drain(&self) {
        let state = self.shared.lock();
        let drained = self.shared.idle.wait_while(state, |state| !state.is_idle());
        drop(drained.unwrap_or_else(PoisonError::into_inner));
    }

    /// Notes that all records are in the engine's file. No commit may wait.
    pub(super) fn made_durable(&self) {
        let mut state = self.shared.lock();
        state.last = None;
        state.synced = state.appended;
    }

    /// The error of the failed sync.
    pub(super) fn failure(&self) -> Option<Error> {
        self.shared.lock().failure.clone()
    }

    /// The duration of the last sync.
    pub(super) fn duration(&self) -> Duration {
        self.shared.lock().duration
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.shared.lock().is_idle()
    }

    /// Waits until it may not be busy any more.
    pub(super) async fn idle(&self) {
        self.shared.notify.notified().await;
    }
}

impl Drop for Syncer {
    /// Ends the thread after all waiting commits.
    fn drop(&mut self) {
        self.shared.lock().is_ended = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that syncs the log has panicked");
        }
    }
}
