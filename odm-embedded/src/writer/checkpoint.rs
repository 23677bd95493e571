//! Checkpoints: the changes of a frozen memtable go into the engine, on a thread of their own, beside writers and readers.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use odm_store::{Error, ErrorKind, Result, metrics};
use tokio::sync::Notify;

use super::{
    super::{
        engine::{BaseState, Engine, KeyChange, WriteStop},
        layout::META,
        log::{self, Log},
        memtable::{Memtables, SharedChange},
        snapshot::Snapshot,
        wait::{mark_thread, panic_message},
    },
    Answers, Commit, Writer,
};

/// The engine, and the checkpoint that writes into it.
pub(super) struct Checkpoints {
    /// `None` while a checkpoint has it, and after one has panicked.
    engine: Option<Engine>,
    running: Option<Running>,
    /// The memtable that the running checkpoint writes.
    frozen: Memtables,
    write_stop: WriteStop,
    /// Wakes the writer's thread.
    wake: Arc<Notify>,
}

struct Running {
    thread: JoinHandle<(Engine, Result<BaseState>)>,
    has_ended: Arc<AtomicBool>,
    began: Instant,
    /// The memory of the changes that it writes.
    bytes: usize,
}

impl Checkpoints {
    pub(super) fn new(engine: Engine, wake: Arc<Notify>) -> Checkpoints {
        Checkpoints {
            write_stop: engine.write_stop(),
            engine: Some(engine),
            running: None,
            frozen: Memtables::default(),
            wake,
        }
    }

    /// The memtable that is not in the engine yet; an empty one if no checkpoint runs.
    pub(super) fn frozen(&self) -> &Memtables {
        &self.frozen
    }

    pub(super) fn write_stop(&self) -> &WriteStop {
        &self.write_stop
    }

    /// The engine. No checkpoint may run.
    pub(super) fn engine(&mut self) -> Result<&mut Engine> {
        self.engine.as_mut().ok_or_else(lost)
    }

    pub(super) fn into_engine(self) -> Option<Engine> {
        self.engine
    }

    /// Puts another database in the place of that of the engine.
    pub(super) fn replace_by(&mut self, new: Engine) -> Result<()> {
        self.write_stop = new.write_stop();
        self.engine()?.replace_by(new);
        Ok(())
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    pub(super) fn wake(&self) -> Arc<Notify> {
        self.wake.clone()
    }

    pub(super) fn has_ended(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| {
            running.has_ended.load(Ordering::Acquire) || running.thread.is_finished()
        })
    }

    /// Begins to write a memtable of this many bytes, with the record that names the generation after it.
    pub(super) fn begin(
        &mut self,
        frozen: Memtables,
        bytes: usize,
        named: Option<Vec<u8>>,
    ) -> Result<()> {
        let mut engine = self.engine.take().ok_or_else(lost)?;
        let (memtables, wake) = (frozen.clone(), self.wake.clone());
        let has_ended = Arc::new(AtomicBool::new(false));
        let ended = has_ended.clone();
        let write = move || {
            mark_thread();
            let changes = memtables.changes();
            drop(memtables);
            let committed = engine.commit(self::changes(named.as_deref(), &changes), true);
            let base = committed.and_then(|()| engine.newest());
            ended.store(true, Ordering::Release);
            wake.notify_one();
            (engine, base)
        };
        let thread = thread::Builder::new().name("odm-checkpoint".to_owned());
        let thread = thread.spawn(write).map_err(|error| {
            Error::new(ErrorKind::Io, "cannot start the thread of a checkpoint").with_source(error)
        })?;
        self.frozen = frozen;
        self.running = Some(Running {
            thread,
            has_ended,
            began: Instant::now(),
            bytes,
        });
        Ok(())
    }

    /// Waits for the end of the running checkpoint, if there is one, and returns the state of the engine after it, and the memtable
    /// that it has written.
    fn end(&mut self) -> Result<Option<(BaseState, Memtables)>> {
        let Some(Running {
            thread,
            has_ended,
            began,
            bytes,
        }) = self.running.take()
        else {
            return Ok(None);
        };
        let waits = (!has_ended.load(Ordering::Acquire)).then(Instant::now);
        let (engine, base) = thread.join().map_err(|panic| {
            let message = format!("a checkpoint panicked: {}", panic_message(&*panic));
            Error::new(ErrorKind::Io, message)
        })?;
        if let Some(since) = waits {
            metrics::checkpoint_wait(since.elapsed());
        }
        self.engine = Some(engine);
        let base = base?;
        // After an error, the frozen table stays a part of the newest state.
        let written = mem::take(&mut self.frozen);
        metrics::checkpoint(began.elapsed(), bytes);
        Ok(Some((base, written)))
    }
}

/// The changes of a checkpoint, with the record that names the generation of the log.
pub(super) fn changes<'a>(
    named: Option<&'a [u8]>,
    changes: &'a [SharedChange],
) -> impl Iterator<Item = KeyChange<'a>> {
    let named = named.map(|named| (META, log::RECORD, Some(named)));
    let changes = changes.iter();
    let changes = changes.map(|(tree, key, value)| (*tree, &**key, value.as_deref()));
    named.into_iter().chain(changes)
}

fn lost() -> Error {
    Error::new(
        ErrorKind::Io,
        "the engine is lost, since a checkpoint panicked",
    )
}

impl Writer {
    /// Freezes the memtable, and begins to write it into the engine. Waits for the checkpoint before it, if that has not ended.
    ///
    /// All commits are durable then.
    pub(super) fn begin_checkpoint(&mut self) -> Result<()> {
        self.finish_checkpoint()?;
        if self.compactions.is_near() {
            // There may be no other moment without a checkpoint.
            self.finish_compaction();
        }
        self.freeze()
    }

    /// Freezes the memtable, and begins to write it into the engine. No checkpoint may run. Publishes nothing: the newest state may have
    /// changes that are not durable yet.
    pub(super) fn freeze(&mut self) -> Result<()> {
        self.settle()?;
        let named = self.log.as_mut().map(|log| log.begin_generation());
        let named = named.transpose().map_err(|error| self.fail(error))?;
        self.syncer.made_durable();
        (self.unflushed, self.uncheckpointed) = (None, None);
        self.unlogged.in_checkpoint = mem::take(&mut self.unlogged.in_memtable);
        let commit = self.newest.memtables.commit;
        let frozen = self.memtable.state(&Memtables::default(), commit);
        let bytes = mem::take(&mut self.memtable).bytes();
        let begun = self.checkpoints.begin(frozen, bytes, named);
        begun.map_err(|error| self.fail(error))?;
        self.compactions.note_checkpoint();
        self.snapshots.note_checkpoint(&self.newest.schema);
        Ok(())
    }

    /// Begins a checkpoint. Waits for its end if it makes the log: before it the file does not name the log, which must get no records.
    pub(super) fn start_checkpoint(&mut self) -> Result<()> {
        if self.log.as_ref().is_none_or(Log::is_begun) {
            self.begin_checkpoint()
        } else {
            self.checkpoint()
        }
    }

    /// Waits for the end of the running checkpoint, if there is one, and publishes its state, so that later reads release the frozen
    /// memtable.
    pub(super) fn finish_checkpoint(&mut self) -> Result<()> {
        let ended = self.checkpoints.end().map_err(|error| {
            self.snapshots.refuse(&error);
            self.fail(error)
        })?;
        self.unlogged.in_checkpoint = false;
        if let Some((base, written)) = ended {
            let base = Arc::new(base);
            self.answer_snapshots(&base, written.commit);
            self.history
                .add(written.clone(), self.published.oldest_open());
            let commit = self.newest.memtables.commit;
            self.publish_base(base.clone(), commit);
            self.mirror(base, Some(written));
        }
        self.usable()
    }

    /// Makes all commits durable in the engine.
    pub(super) fn checkpoint(&mut self) -> Result<()> {
        self.begin_checkpoint()?;
        self.finish_checkpoint()
    }

    /// Publishes another base with the same documents.
    pub(super) fn publish_base(&mut self, base: Arc<BaseState>, commit: u64) {
        self.newest = Arc::new(Snapshot {
            base,
            memtables: self.memtable.state(self.checkpoints.frozen(), commit),
            schema: self.newest.schema.clone(),
            settings: self.settings.clone(),
        });
        self.syncer.push(Commit {
            snapshot: Some(self.newest.clone()),
            durable: false,
            changes: Vec::new(),
            answers: Answers::new(),
        });
    }
}
