//! How changes get into the log and the memtable, and the rules for changes that the log does not have.

use std::{sync::Arc, time::Instant};

use odm_store::Result;

use super::{
    super::{log::Log, overlay::Overlay, schema::Schema, snapshot::Snapshot, work::Work},
    MEMTABLE, Writer,
};

/// The changes of eventual units that the log does not have. A record behind them would be recovered without them, so none is appended
/// before a checkpoint has made them durable.
#[derive(Default)]
pub(super) struct Unlogged {
    pub(super) in_memtable: bool,
    pub(super) in_checkpoint: bool,
    /// The number of successive commits that load data.
    loads: u32,
}

impl Unlogged {
    pub(super) fn is_empty(&self) -> bool {
        !self.in_memtable && !self.in_checkpoint
    }

    /// Notes a commit. Returns whether it need not be logged, as one of a series that loads data: nobody waits for it, and its checkpoint
    /// begins at once.
    pub(super) fn note(&mut self, is_load: bool) -> bool {
        self.loads = if is_load { self.loads + 1 } else { 0 };
        self.loads > 2
    }
}

impl Writer {
    /// Stores work in the log and the memtable, and returns the new state.
    pub(super) fn store(
        &mut self,
        work: &Work,
        durable: bool,
        units: usize,
    ) -> Result<Arc<Snapshot>> {
        self.usable()?;
        let is_full = self.memtable.bytes() >= MEMTABLE;
        if is_full {
            self.begin_checkpoint()?;
        }
        let is_load = !durable && work.overlay.bytes() >= self.settings.load_size;
        let skips_log = self.unlogged.note(is_load) && self.log.is_some();
        let is_logged = !skips_log && self.log(&work.overlay, units, is_full)?;
        // The first checkpoint of a store makes the log.
        let must_wait = durable || !self.log.as_ref().is_some_and(Log::is_begun);
        if is_logged {
            self.begin_sync(durable);
        } else if must_wait {
            // Its end publishes the newest state, which must not have these changes yet.
            self.finish_checkpoint()?;
        }
        self.remember(&work.overlay, work.schema.clone());
        match (is_logged, must_wait) {
            (true, _) => {}
            (false, true) => {
                self.freeze()?;
                self.finish_checkpoint()?;
            }
            (false, false) => {
                self.unlogged.in_memtable = true;
                if !self.checkpoints.is_running() {
                    self.freeze()?;
                }
            }
        }
        Ok(self.newest.clone())
    }

    /// Appends changes to the log, in the other segment if the present one has no room. Returns whether the engine need not make them
    /// durable.
    fn log(&mut self, changes: &Overlay, units: usize, is_begun: bool) -> Result<bool> {
        let is_logged = self.append(changes, units)?;
        if is_logged || is_begun || self.memtable.is_empty() {
            return Ok(is_logged);
        }
        // The changes may be too long for any segment.
        self.begin_checkpoint()?;
        self.append(changes, units)
    }

    /// Makes the changes durable that the log does not have.
    pub(super) fn finish_unlogged(&mut self) -> Result<()> {
        match self.unlogged {
            Unlogged {
                in_memtable: true, ..
            } => self.checkpoint(),
            Unlogged {
                in_checkpoint: true,
                ..
            } => self.finish_checkpoint(),
            _ => self.usable(),
        }
    }

    /// Ends a checkpoint, and begins the next one if the log does not have all changes since.
    pub(super) fn follow_checkpoint(&mut self) -> Result<()> {
        self.finish_checkpoint()?;
        match self.unlogged.in_memtable {
            true => self.begin_checkpoint(),
            false => Ok(()),
        }
    }

    /// Appends changes to the log. Returns whether the engine need not make them durable.
    pub(super) fn append(&mut self, changes: &Overlay, units: usize) -> Result<bool> {
        self.finish_unlogged()?;
        let Some(log) = &mut self.log else {
            return Ok(true);
        };
        let newest = self.newest.view();
        let appended = log.append(units, changes, |tree, key| newest.get(tree, key));
        let appended = appended.transpose();
        let appended = appended.map(|appended| self.syncer.appended(appended?));
        let is_logged = appended.is_some();
        appended
            .unwrap_or(Ok(()))
            .map_err(|error| self.fail(error))?;
        Ok(is_logged)
    }

    /// Begins to sync the appended changes if they must be durable, or notes that a crash may undo them.
    pub(super) fn begin_sync(&mut self, durable: bool) {
        if self.log.is_none() {
            return;
        }
        if durable {
            self.syncer.begin_sync();
        } else {
            self.unflushed.get_or_insert_with(Instant::now);
        }
    }

    /// Adds changes to the memtable, and makes theirs the newest state.
    pub(super) fn remember(&mut self, changes: &Overlay, schema: Arc<Schema>) {
        let commit = self.newest.memtables.commit + 1;
        self.memtable.add(commit, changes);
        if self.log.is_some() {
            self.uncheckpointed.get_or_insert_with(Instant::now);
        }
        self.newest = Arc::new(Snapshot {
            base: self.newest.base.clone(),
            memtables: self.memtable.state(self.checkpoints.frozen(), commit),
            schema,
            settings: self.settings.clone(),
        });
    }
}
