//! Uncommitted changes, and reads that see them.

mod memory;

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use odm_store::{Cost, Error, ErrorKind, FeedChanges, Result, metrics};

use self::memory::Memory;
pub(super) use self::memory::UnitBound;
use super::{
    layout::{FORMAT, META},
    overlay::{JournalPosition, Overlay},
    read::Reading,
    reads::ReadSet,
    schema::{FORMAT_RECORD, RECORD, Schema, format_record},
    settings::Settings,
    snapshot::Snapshot,
    view::View,
    wait::{Deadline, YieldBudget},
};

/// Changes on top of a committed state.
pub(super) struct Work {
    pub(super) base: Arc<Snapshot>,
    pub(super) overlay: Overlay,
    /// The schema with the changes of the overlay.
    pub(super) schema: Arc<Schema>,
    pub(super) settings: Arc<Settings>,
    /// Records the reads of a caller's transaction.
    pub(super) reads: Option<Arc<ReadSet>>,
    /// The number of documents that the unit has written.
    written: u64,
    /// The end of the unit's time; `None` in a transaction of a caller, which has a limit of its own.
    deadline: Option<Deadline>,
    memory: Memory,
    /// Whether long reads let other tasks of the thread run.
    yields: bool,
    /// Its changes of watched collections.
    pub(super) changes: FeedChanges,
}

impl Work {
    pub(super) fn new(base: Arc<Snapshot>, changes: FeedChanges) -> Work {
        Work {
            overlay: Overlay::default(),
            schema: base.schema.clone(),
            settings: base.settings.clone(),
            base,
            reads: None,
            written: 0,
            deadline: None,
            memory: Memory::Unbounded,
            yields: false,
            changes,
        }
    }

    pub(super) fn view(&self) -> View<'_> {
        View {
            overlay: Some(&self.overlay),
            schema: &self.schema,
            reads: self.reads.as_deref(),
            ..self.base.view()
        }
    }

    pub(super) fn reading(&self) -> Reading<'_> {
        Reading {
            view: self.view(),
            settings: &self.settings,
            budget: self.yield_budget(),
        }
    }

    /// Has long reads let other tasks run.
    pub(super) fn yielding(self) -> Work {
        Work {
            yields: true,
            ..self
        }
    }

    /// A budget without yields, as a rule: the writer's thread has no other tasks, and an operation of a caller's transaction must not stop
    /// halfway, since other operations of the transaction would wait for it.
    pub(super) fn yield_budget(&self) -> YieldBudget {
        if self.yields {
            return YieldBudget::per_chunk();
        }
        YieldBudget::until(self.deadline)
    }

    /// Starts the time of the unit.
    pub(super) fn begin_time(&mut self) {
        self.deadline = Deadline::after(self.settings.unit_time);
    }

    /// Refuses everything once the unit has computed for too long.
    pub(super) fn check_time(&self) -> Result<()> {
        self.deadline.map_or(Ok(()), |deadline| deadline.ask())
    }

    /// Begins a unit. Earlier changes can no longer be undone.
    pub(super) fn begin_unit(&mut self) {
        self.overlay.forget();
        self.begin_memory();
        self.written = 0;
    }

    /// Counts a document that is written.
    pub(super) fn count_written(&mut self, cost: &mut Cost) -> Result<()> {
        self.check_time()?;
        self.written += 1;
        cost.documents_written += 1;
        let limit = self.settings.unit_documents;
        if self.written == limit / 2 + 1 {
            metrics::large_unit();
            tracing::warn!(
                target: "odm",
                "large unit: it writes more than half of the {limit} documents that one may; if these are copies, let them follow later, \
                 by `refresh = \"later\"`"
            );
        }
        if self.written <= limit {
            return self.bound_memory();
        }
        Err(Error::new(
            ErrorKind::Limit,
            format!(
                "unit of work too large: it writes more than {limit} documents; split it, or raise `unit_limit`"
            ),
        ))
    }

    /// Changes the schema and its record.
    pub(super) fn set_schema(&mut self, schema: Schema) -> Result<()> {
        let format = schema.format();
        if format > FORMAT {
            let record = format_record(format)?;
            self.overlay.put(META, FORMAT_RECORD, &record);
        }
        self.overlay.put(META, RECORD, &schema.encode()?);
        self.schema = Arc::new(schema);
        Ok(())
    }

    /// The schema, if the work changes it.
    pub(super) fn changed_schema(&self) -> Option<&Arc<Schema>> {
        Some(&self.schema).filter(|schema| !Arc::ptr_eq(schema, &self.base.schema))
    }

    /// Begins changes that are done as a whole or not at all.
    pub(super) fn savepoint(&mut self) -> Savepoint<'_> {
        Savepoint {
            mark: self.overlay.mark(),
            schema: self.schema.clone(),
            written: self.written,
            spills: self.spills(),
            done: false,
            work: self,
        }
    }
}

/// A point to which the work returns unless the changes after it are kept by
/// [`keep`](Savepoint::keep): after an error, after a panic, and when the future is dropped.
pub(super) struct Savepoint<'w> {
    work: &'w mut Work,
    mark: JournalPosition,
    schema: Arc<Schema>,
    written: u64,
    spills: u64,
    done: bool,
}

impl Savepoint<'_> {
    pub(super) fn keep(mut self) {
        self.done = true;
    }
}

impl Deref for Savepoint<'_> {
    type Target = Work;

    fn deref(&self) -> &Work {
        self.work
    }
}

impl DerefMut for Savepoint<'_> {
    fn deref_mut(&mut self) -> &mut Work {
        self.work
    }
}

impl Drop for Savepoint<'_> {
    fn drop(&mut self) {
        if !self.done {
            if self.work.spills() != self.spills {
                self.work.abort_large_unit();
            }
            self.work.overlay.undo_to(self.mark);
            self.work.schema = self.schema.clone();
            self.work.written = self.written;
        }
    }
}
