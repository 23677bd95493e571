//! The memory of the changes of a unit of work.
//!
//! A unit begins in a group, whose changes lie in memory. A unit whose changes exceed [`Settings::group_memory`] is undone there and runs
//! again by itself, as a *large* unit: whenever its changes exceed [`Settings::spill_memory`], they move into an open transaction of the
//! engine.
//!
//! [`Settings::group_memory`]: super::super::settings::Settings::group_memory
//! [`Settings::spill_memory`]: super::super::settings::Settings::spill_memory

use std::sync::Arc;

use odm_store::{Error, ErrorKind, FeedChanges, Result};

use super::{
    super::{
        engine::{BaseState, Uncommitted},
        memtable::Memtables,
        snapshot::Snapshot,
    },
    Work,
};

/// The place of the changes of a [`Work`] when they become too many.
pub(super) enum Memory {
    /// Nowhere: they stay in memory.
    Unbounded,
    /// They are discarded, and the unit runs again by itself.
    Group {
        /// The size of the overlay when the unit began.
        start: usize,
        /// How much it may grow, and how many documents the unit may write.
        bound: UnitBound,
        /// Whether the unit needs more memory than a group has.
        outgrown: bool,
    },
    /// Into a transaction of the engine.
    Large {
        transaction: Arc<Uncommitted>,
        /// How many times changes were moved there. No savepoint can undo these.
        spills: u64,
        /// Whether a failed call could not be undone.
        aborted: bool,
    },
}

/// The bound of a unit, beyond which it is undone and runs elsewhere.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct UnitBound {
    /// The size of its changes.
    pub(in super::super) bytes: usize,
    pub(in super::super) documents: u64,
}

impl Work {
    /// Bounds the changes of each unit that is added from now on.
    pub(in super::super) fn bounded(mut self, bound: UnitBound) -> Work {
        self.memory = Memory::Group {
            start: self.overlay.bytes(),
            bound,
            outgrown: false,
        };
        self
    }

    /// Work of one large unit, whose changes go into a transaction that was opened on `newest`.
    pub(in super::super) fn for_large_unit(
        newest: &Snapshot,
        transaction: Arc<Uncommitted>,
        changes: FeedChanges,
    ) -> Work {
        let base = Snapshot {
            base: Arc::new(BaseState::Uncommitted(transaction.clone())),
            memtables: Memtables::default(),
            schema: newest.schema.clone(),
            settings: newest.settings.clone(),
        };
        let mut work = Work::new(Arc::new(base), changes);
        work.memory = Memory::Large {
            transaction,
            spills: 0,
            aborted: false,
        };
        work
    }

    /// Begins the next unit of a group.
    pub(super) fn begin_memory(&mut self) {
        if let Memory::Group {
            start, outgrown, ..
        } = &mut self.memory
        {
            (*start, *outgrown) = (self.overlay.bytes(), false);
        }
    }

    /// Makes room before a call that writes.
    ///
    /// Changes of earlier calls are moved before the changes of a running call, so that a call that fails can be undone alone unless it
    /// writes very much itself.
    pub(in super::super) fn begin_call(&mut self) -> Result<()> {
        self.check_usable()?;
        match &self.memory {
            // From here on, only the call that now begins may be undone alone.
            Memory::Unbounded => self.overlay.forget(),
            Memory::Group { .. } => {}
            Memory::Large { .. } => {
                self.overlay.forget();
                if self.overlay.bytes() > self.settings.spill_memory / 2 {
                    self.spill()?;
                }
            }
        }
        Ok(())
    }

    /// Enforces the bound after a document was written.
    pub(super) fn bound_memory(&mut self) -> Result<()> {
        match &mut self.memory {
            Memory::Unbounded => Ok(()),
            Memory::Group {
                start,
                bound,
                outgrown,
            } => {
                let grown = self.overlay.bytes().saturating_sub(*start);
                *outgrown = grown > bound.bytes || self.written > bound.documents;
                self.check_usable()
            }
            Memory::Large { .. } if self.overlay.bytes() > self.settings.spill_memory => {
                self.spill()
            }
            Memory::Large { .. } => Ok(()),
        }
    }

    /// Whether the unit must be undone, and run again by itself.
    pub(in super::super) fn is_outgrown(&self) -> bool {
        matches!(self.memory, Memory::Group { outgrown: true, .. })
    }

    /// Refuses everything once the unit can only be undone.
    pub(in super::super) fn check_usable(&self) -> Result<()> {
        let message = match &self.memory {
            Memory::Group { outgrown: true, .. } => {
                "transaction aborted: it needs more memory than a group has, and runs again alone"
            }
            Memory::Large { aborted: true, .. } => "transaction aborted: an operation in it failed",
            _ => return Ok(()),
        };
        Err(Error::new(ErrorKind::TransactionAborted, message))
    }

    /// Moves the last changes of a large unit that has succeeded.
    pub(in super::super) fn finish_large_unit(&mut self) -> Result<()> {
        self.check_usable()?;
        self.spill()
    }

    /// How many times changes were moved out of memory.
    pub(super) fn spills(&self) -> u64 {
        match &self.memory {
            Memory::Large { spills, .. } => *spills,
            _ => 0,
        }
    }

    /// Records that a call has failed after a part of its changes was moved out of memory.
    pub(super) fn abort_large_unit(&mut self) {
        if let Memory::Large { aborted, .. } = &mut self.memory {
            *aborted = true;
        }
    }

    fn spill(&mut self) -> Result<()> {
        let Memory::Large {
            transaction,
            spills,
            aborted,
        } = &mut self.memory
        else {
            return Ok(());
        };
        if let Err(error) = transaction.write(self.overlay.iter()) {
            // Some of the changes may be there.
            *aborted = true;
            return Err(error);
        }
        *spills += 1;
        self.overlay.clear();
        Ok(())
    }
}
