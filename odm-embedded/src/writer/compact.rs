//! A compaction: another file takes the place of the store's, without its free space, while others read and write.
//!
//! 1. A checkpoint writes all changes until now.
//! 2. A thread makes a new file equal to the store's, and has it follow each commit of the engine (see `mirror`). Units and transactions go
//!    into the log and the memtable meanwhile, and checkpoints into the old file.
//! 3. Between two checkpoints, when the new file lacks nothing, the writer has it take the name of the old one, and syncs the folder.
//!
//! Both files have the same entries then, and name the same generation of the log: after a crash either of them is whole with it. The next
//! checkpoint begins only after the sync: it ends the generation, and a crash could give the name back to the old file, which does not have
//! it.
//!
//! Earlier published states go on reading the old file, which has no name any more.

mod mirror;

use std::{
    collections::VecDeque,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use odm_store::{Error, ErrorKind, Result};

use self::mirror::{EngineCommit, Mirror, MirrorProgress};
use super::{
    super::{
        compact::Compacted,
        engine::{BaseState, Engine},
        memtable::Memtables,
        place::{MakeDurable, Replacement},
        queue::Reply,
        wait::{mark_thread, panic_message},
    },
    Writer, stop,
};

/// How many commits of the engine wait for the new file at most. A further checkpoint waits, so that their changes take little memory.
const COMMITS: usize = 1;

/// The compactions that callers wait for, one after another.
#[derive(Default)]
pub(super) struct Compactions {
    waiting: VecDeque<Reply<Compacted>>,
    /// Whether the running checkpoint has all changes from before the first of them.
    is_frozen: bool,
    running: Option<RunningCompaction>,
}

/// A compaction that copies.
struct RunningCompaction {
    commits: SyncSender<EngineCommit>,
    progress: Arc<MirrorProgress>,
    thread: JoinHandle<Result<Engine>>,
    make_durable: MakeDurable,
    /// The length of the old file.
    before: u64,
    reply: Arc<Reply<Compacted>>,
}

impl RunningCompaction {
    fn send(&self, commit: EngineCommit) {
        if self.progress.note(&commit) {
            // The thread has failed otherwise.
            let _ = self.commits.send(commit);
        }
    }
}

impl Compactions {
    /// Whether the file of the running one can take its place as soon as it has the changes of checkpoints.
    pub(super) fn is_near(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| running.progress.is_near())
    }

    /// Whether the running one can end now, if no checkpoint runs.
    pub(super) fn is_over(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| running.progress.is_over())
    }

    /// Whether the next one needs a checkpoint.
    pub(super) fn is_due(&self) -> bool {
        self.running.is_none() && !self.waiting.is_empty()
    }

    /// Notes the begin of a checkpoint.
    pub(super) fn note_checkpoint(&mut self) {
        self.is_frozen = self.is_due();
    }

    /// Refuses the waiting ones.
    pub(super) fn refuse(&mut self, error: &Error) {
        for reply in self.waiting.drain(..) {
            let _ = reply.send(Err(error.clone()));
        }
    }

    /// Ends all of them without a change of the store's file.
    pub(super) fn end(&mut self, error: &Error) {
        self.refuse(error);
        let Some(RunningCompaction {
            commits,
            thread,
            reply,
            ..
        }) = self.running.take()
        else {
            return;
        };
        drop(commits);
        if let Ok(Ok(new)) = thread.join() {
            new.leave();
        }
        answer(reply, Err(error.clone()));
    }
}

impl Writer {
    /// Begins when a checkpoint has all changes from before this.
    pub(super) fn compact(&mut self, reply: Reply<Compacted>) {
        match self.usable() {
            Ok(()) => self.compactions.waiting.push_back(reply),
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    /// Begins the checkpoint for the next compaction.
    pub(super) fn prepare_compaction(&mut self) {
        self.compactions.waiting.retain(|reply| !reply.is_closed());
        if !self.compactions.is_due() {
            return;
        }
        if let Err(error) = self.start_checkpoint() {
            self.compactions.refuse(&error);
        }
    }

    /// Has the running compaction follow a commit of the engine, or begins the next one with its state. `changes` are all of the commit, if
    /// they are known.
    pub(super) fn mirror(&mut self, base: Arc<BaseState>, changes: Option<Memtables>) {
        if let Some(running) = &self.compactions.running {
            return running.send(EngineCommit { base, changes });
        }
        if !mem::take(&mut self.compactions.is_frozen) {
            return;
        }
        // The caller of another one was dropped before it began.
        while let Some(reply) = self.compactions.waiting.pop_front() {
            if reply.is_closed() {
                continue;
            }
            let reply = Arc::new(reply);
            match self.begin_compaction(base, reply.clone()) {
                Ok(running) => self.compactions.running = Some(running),
                Err(error) => answer(reply, Err(error)),
            }
            return;
        }
    }

    fn begin_compaction(
        &mut self,
        base: Arc<BaseState>,
        reply: Arc<Reply<Compacted>>,
    ) -> Result<RunningCompaction> {
        let engine = self.checkpoints.engine()?;
        let (before, name) = (engine.len()?, engine.name());
        let Replacement {
            backend,
            make_durable,
        } = self.file.create().map_err(cannot)?;
        let (commits, received) = sync_channel(COMMITS);
        let progress = Arc::new(MirrorProgress::new(self.checkpoints.wake()));
        let engine = (name, self.settings.cache_size);
        let mirror = Mirror::new(backend, engine, base, received, progress.clone());
        let (ending, caller) = (progress.clone(), reply.clone());
        let run = move || {
            mark_thread();
            let goes_on = || !caller.is_closed();
            let ran = catch_unwind(AssertUnwindSafe(|| mirror.run(goes_on)));
            ending.ended();
            ran.unwrap_or_else(|panic| {
                let message = format!("a compaction panicked: {}", panic_message(&*panic));
                Err(Error::new(ErrorKind::Io, message))
            })
        };
        let thread = thread::Builder::new().name("odm-compact".to_owned());
        let thread = thread.spawn(run).map_err(cannot)?;
        Ok(RunningCompaction {
            commits,
            progress,
            thread,
            make_durable,
            before,
            reply,
        })
    }

    /// Ends the running compaction, whose new file lacks at most the changes of checkpoints. No checkpoint may run.
    pub(super) fn finish_compaction(&mut self) {
        let Some(RunningCompaction {
            commits,
            thread,
            make_durable,
            before,
            reply,
            ..
        }) = self.compactions.running.take()
        else {
            return;
        };
        drop(commits);
        let new = thread.join().unwrap_or_else(|_| {
            let message = "the thread of a compaction panicked";
            Err(Error::new(ErrorKind::Io, message))
        });
        let compacted = new.and_then(|new| {
            if reply.is_closed() {
                new.leave();
                return Ok(None);
            }
            let after = self.put_in_place(new, make_durable)?;
            Ok(Some(Compacted { before, after }))
        });
        if let Some(compacted) = compacted.transpose() {
            answer(reply, compacted);
        }
    }

    /// Puts a file that is equal to the store's in its place, and returns its length.
    fn put_in_place(&mut self, new: Engine, make_durable: MakeDurable) -> Result<u64> {
        let placed = self.usable().and_then(|()| {
            let put_in_place = make_durable().map_err(cannot)?;
            put_in_place().map_err(|error| self.stop_between_files(error))
        });
        match placed {
            Ok(file) => self.file = file,
            Err(error) => {
                new.leave();
                return Err(error);
            }
        }
        self.checkpoints.replace_by(new)?;
        let newest = self.checkpoints.engine()?.newest();
        let newest = newest.map_err(|error| self.fail(error))?;
        let commit = self.newest.memtables.commit;
        // Later reads release the old file.
        self.publish_base(Arc::new(newest), commit);
        self.checkpoints.engine()?.len()
    }

    /// Stops all writes, since it is unknown which of the two files a crash would leave.
    #[cold]
    fn stop_between_files(&mut self, error: std::io::Error) -> Error {
        let cause = cannot(error);
        let stopped = stop(self.checkpoints.write_stop(), cause.clone());
        let message = format!(
            "{cause}; either file has all documents, and the store refuses writes until it is opened again"
        );
        self.failure = Some(stopped);
        Error::new(cause.kind(), message).with_source(cause)
    }
}

/// Answers when the thread, which has ended, does not ask for the caller any more.
fn answer(reply: Arc<Reply<Compacted>>, compacted: Result<Compacted>) {
    if let Some(reply) = Arc::into_inner(reply) {
        let _ = reply.send(compacted);
    }
}

#[cold]
fn cannot(error: std::io::Error) -> Error {
    let message = format!("cannot compact the store: {error}");
    Error::new(ErrorKind::Io, message).with_source(error)
}
