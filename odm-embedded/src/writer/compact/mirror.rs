//! The new file of a compaction, which is made equal to the store's file beside all writes.
//!
//! Up to a *position*, the new file has the entries of a state of the engine, and the copy goes on from there in portions. Between two of
//! them it takes the commits that the engine has made meanwhile: their changes up to the position are made in the new file as well, and the
//! rest is copied from the state after them. So at no time more than some checkpoints' changes are in memory, and no old state is kept.
//!
//! Once everything is copied, the file is cut to its length, which is one call of the engine. The changes of the commits during that call are
//! not known, and neither are the changes of a large unit. The copy begins again after them, and writes all differences.

use std::{
    cmp::Ordering,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, TryRecvError},
    },
};

use odm_store::{Error, ErrorKind, Result};
use tokio::sync::Notify;

use super::super::{
    super::{
        engine::{Backend, BaseEntry, BaseRange, BaseState, Engine, KeyChange, Uncommitted},
        layout::{END, META, Tree},
        log,
        memtable::Memtables,
    },
    checkpoint,
};

/// The size of the cache of the copy, in bytes. Pages beyond it are written.
const CACHE: usize = 16 << 20;

/// How many bytes are read between two looks at the commits.
const PORTION: usize = 1 << 20;

/// How many bytes are copied between two syncs, so that the last one is short.
const SYNC: usize = 32 << 20;

/// How many entries are read at once.
const RUN: usize = 64;

/// The beginning of all trees.
const START: Position = (META, Vec::new());

/// A tree, and a key in it.
type Position = (Tree, Vec<u8>);

/// A commit of the engine.
pub(super) struct EngineCommit {
    pub(super) base: Arc<BaseState>,
    /// Its changes, without the record that names the log. `None` if they are not known.
    pub(super) changes: Option<Memtables>,
}

/// How far the new file is.
pub(super) struct MirrorProgress {
    state: Mutex<MirrorState>,
    /// Wakes the writer's thread.
    wake: Arc<Notify>,
}

#[derive(Default)]
struct MirrorState {
    /// The number of commits that the new file lacks.
    behind: usize,
    /// Whether it has all else.
    is_copied: bool,
    /// Whether it is cut to its length, so that no commit is taken.
    is_completing: bool,
    /// The state after the last commit that was not sent for that reason.
    missed: Option<Arc<BaseState>>,
    has_ended: bool,
}

impl MirrorProgress {
    pub(super) fn new(wake: Arc<Notify>) -> MirrorProgress {
        MirrorProgress {
            state: Mutex::default(),
            wake,
        }
    }

    /// Notes a commit. Returns whether it is to be sent.
    pub(super) fn note(&self, commit: &EngineCommit) -> bool {
        let mut state = self.lock();
        state.is_copied &= commit.changes.is_some();
        if state.is_completing {
            state.missed = Some(commit.base.clone());
            return false;
        }
        state.behind += 1;
        true
    }

    fn begin_completing(&self) {
        self.lock().is_completing = true;
    }

    /// Returns the state after the commits that were not sent meanwhile, if there were any.
    fn end_completing(&self) -> Option<Arc<BaseState>> {
        let mut state = self.lock();
        state.is_completing = false;
        state.missed.take()
    }

    fn is_behind(&self) -> bool {
        self.lock().behind > 0
    }

    fn followed(&self) {
        self.lock().behind -= 1;
    }

    fn copied(&self) {
        let mut state = self.lock();
        if state.behind == 0 {
            state.is_copied = true;
            self.wake.notify_one();
        }
    }

    pub(super) fn ended(&self) {
        self.lock().has_ended = true;
        self.wake.notify_one();
    }

    /// Whether it lacks nothing but the changes of checkpoints, or has failed.
    pub(super) fn is_near(&self) -> bool {
        let state = self.lock();
        state.is_copied || state.has_ended
    }

    /// Whether it lacks nothing, or has failed.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.is_copied && state.behind == 0 || state.has_ended
    }

    fn lock(&self) -> MutexGuard<'_, MirrorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The copy into a new file.
pub(super) struct Mirror {
    backend: Arc<dyn Backend>,
    /// The name of the store.
    name: Arc<str>,
    cache_size: usize,
    /// The state that is copied.
    base: Arc<BaseState>,
    /// The new file has all entries before this one; `None` if it has all.
    position: Option<Position>,
    commits: Receiver<EngineCommit>,
    progress: Arc<MirrorProgress>,
}

impl Mirror {
    pub(super) fn new(
        backend: Arc<dyn Backend>,
        (name, cache_size): (Arc<str>, usize),
        base: Arc<BaseState>,
        commits: Receiver<EngineCommit>,
        progress: Arc<MirrorProgress>,
    ) -> Mirror {
        Mirror {
            backend,
            name,
            cache_size,
            base,
            position: Some(START),
            commits,
            progress,
        }
    }

    /// Copies everything, and then follows the commits until no more can come: the new file is equal to the store's then.
    pub(super) fn run(mut self, goes_on: impl Fn() -> bool) -> Result<Engine> {
        let new = format!("new file of {}", self.name);
        let mut engine = Engine::open(self.backend.clone(), new.into(), CACHE)?;
        self.copy(&mut engine, &goes_on)?;
        self.progress.begin_completing();
        engine.compact()?;
        engine.close()?;
        let mut engine = Engine::open(self.backend.clone(), self.name.clone(), self.cache_size)?;
        // Those before the missed ones.
        while self.progress.is_behind()
            && let Ok(commit) = self.commits.recv()
        {
            self.follow(commit, |changes| engine.commit(changes, true))?;
        }
        if let Some(missed) = self.progress.end_completing() {
            self.base = missed;
            self.position = Some(START);
        }
        loop {
            if self.position.is_some() {
                self.copy(&mut engine, &goes_on)?;
            }
            self.progress.copied();
            let Ok(commit) = self.commits.recv() else {
                return Ok(engine);
            };
            self.follow(commit, |changes| engine.commit(changes, true))?;
        }
    }

    /// Copies the rest in one transaction.
    fn copy(&mut self, engine: &mut Engine, goes_on: &impl Fn() -> bool) -> Result<()> {
        let transaction = Arc::new(engine.begin()?);
        let mut unsynced = 0;
        while let Some((tree, key)) = self.position.take() {
            let (copied, next) = self.copy_portion(&transaction, (tree, &key))?;
            self.position = next;
            unsynced += copied;
            if unsynced >= SYNC {
                self.backend.sync_data().map_err(super::cannot)?;
                unsynced = 0;
            }
            self.take_commits(&transaction)?;
            if !goes_on() {
                return Err(ended("its future was dropped"));
            }
        }
        engine.commit_open(&transaction)
    }

    /// Takes the commits that wait.
    fn take_commits(&mut self, transaction: &Uncommitted) -> Result<()> {
        loop {
            match self.commits.try_recv() {
                Ok(commit) => self.follow(commit, |changes| transaction.write(changes))?,
                Err(TryRecvError::Empty) => return Ok(()),
                Err(TryRecvError::Disconnected) => return Err(ended("the store was closed")),
            }
        }
    }

    /// Has the new file follow a commit of the engine.
    fn follow(
        &mut self,
        EngineCommit { base, changes }: EngineCommit,
        write: impl FnOnce(&mut dyn Iterator<Item = KeyChange<'_>>) -> Result<()>,
    ) -> Result<()> {
        self.base = base;
        match changes {
            None => self.position = Some(START),
            Some(changes) => {
                let changes = changes.changes();
                let named = self.base.get(META, log::RECORD)?;
                let changes = checkpoint::changes(named.as_deref(), &changes);
                write(&mut changes.filter(|(tree, key, _)| self.is_copied(*tree, key)))?;
            }
        }
        self.progress.followed();
        Ok(())
    }

    fn is_copied(&self, tree: Tree, key: &[u8]) -> bool {
        match &self.position {
            None => true,
            Some((next, before)) => (tree, key) < (*next, before),
        }
    }

    /// Makes the next entries of the new file those of the state. Returns the bytes that were read, and the position after them.
    fn copy_portion(
        &self,
        transaction: &Arc<Uncommitted>,
        (from, key): (Tree, &[u8]),
    ) -> Result<(usize, Option<Position>)> {
        let mut trees = self.base.trees()?;
        trees.extend(transaction.trees()?);
        let Some(&tree) = trees.range(from..).next() else {
            return Ok((0, None));
        };
        let lower = if tree == from { key } else { &[] };
        let new = BaseState::Uncommitted(transaction.clone());
        let mut entries = Entries::new(self.base.range(tree, lower, &END, false)?);
        let mut found = Entries::new(new.range(tree, lower, &END, false)?);
        let mut changes: Vec<(Vec<u8>, Option<Vec<u8>>)> = Vec::new();
        let mut bytes = 0;
        let mut next = (tree + 1, Vec::new());
        while let Some(order) = order(entries.peek()?, found.peek()?) {
            if bytes >= PORTION {
                break;
            }
            let entry = if order.is_le() { entries.pop() } else { None };
            let found = if order.is_ge() { found.pop() } else { None };
            let Some((key, _)) = entry.as_ref().or(found.as_ref()) else {
                break;
            };
            let key = key.to_vec();
            let value = entry.as_ref().map(|(_, value)| &**value);
            let there = found.as_ref().map(|(_, value)| &**value);
            bytes += key.len() + value.or(there).map_or(0, <[u8]>::len);
            // The least key after this one.
            next = (tree, [&*key, &[0]].concat());
            if value != there {
                changes.push((key, value.map(<[u8]>::to_vec)));
            }
        }
        if bytes < PORTION {
            next = (tree + 1, Vec::new());
        }
        let changes = changes.iter();
        transaction.write(changes.map(|(key, value)| (tree, &**key, value.as_deref())))?;
        Ok((bytes, Some(next)))
    }
}

/// The order of the keys of two entries; no entry comes after all others.
fn order(one: Option<&BaseEntry>, other: Option<&BaseEntry>) -> Option<Ordering> {
    match (one, other) {
        (None, None) => None,
        (Some(_), None) => Some(Ordering::Less),
        (None, Some(_)) => Some(Ordering::Greater),
        (Some((one, _)), Some((other, _))) => Some((**one).cmp(&**other)),
    }
}

/// The entries of a tree, of which the next one can be looked at.
struct Entries {
    range: BaseRange,
    /// The entries that were read, the next one last.
    run: Vec<BaseEntry>,
}

impl Entries {
    fn new(range: BaseRange) -> Entries {
        Entries {
            range,
            run: Vec::new(),
        }
    }

    fn peek(&mut self) -> Result<Option<&BaseEntry>> {
        if self.run.is_empty() {
            self.range.read(&mut self.run, RUN)?;
            self.run.reverse();
        }
        Ok(self.run.last())
    }

    fn pop(&mut self) -> Option<BaseEntry> {
        self.run.pop()
    }
}

#[cold]
fn ended(why: &str) -> Error {
    Error::new(ErrorKind::Closed, format!("compaction ended: {why}"))
}
