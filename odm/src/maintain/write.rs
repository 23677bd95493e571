//! Writes as their callers ask for them.

mod work;

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use bson::{RawBson, RawDocument, RawDocumentBuf};
use odm_mql::{Filter, Sort, Test, Update, UpdatePipeline};
use odm_store::{Cost, Result};

use super::{
    plan::PlanStep,
    rewrites::Told,
    rights::Rights,
    sequence::IdNumbering,
    unit::{Digest, Doc},
};

/// One write.
#[derive(Debug, Clone)]
pub(crate) enum Write {
    /// New documents.
    Insert {
        collection: String,
        documents: Vec<Doc>,
        numbering: Option<IdNumbering>,
        check_returned: ReturnedCheck,
        rights: Rights,
        /// Whether the rule of a collection that no model declares is not looked at.
        bypasses_rule: bool,
    },
    /// A change of stored documents.
    Update {
        collection: String,
        target: WriteTarget,
        change: WriteChange,
        /// Inserts a document if none matches.
        upsert: bool,
        /// The check of a document that an upsert inserts, with its derived fields.
        check_inserted: fn(&RawDocument) -> Result<()>,
        /// Whether the update is refused where it would leave a document that its model cannot read.
        is_typed: bool,
        returning: Option<ReturnDocument>,
        rights: Rights,
        /// Whether the rule of a collection that no model declares is not looked at.
        bypasses_rule: bool,
    },
    /// Documents that replace the stored ones with the same `_id`s; with `upsert`, new documents too.
    Replace {
        collection: String,
        documents: Vec<Doc>,
        upsert: bool,
        /// Whether the write returns the documents byte for byte: a stored `_id` keeps the type of its number.
        is_raw: bool,
        check_returned: ReturnedCheck,
    },
    /// A new document, unless a stored one has the same unique key.
    UpsertBy {
        collection: String,
        key: Filter,
        document: Doc,
        numbering: Option<IdNumbering>,
        on_conflict: OnConflict,
        check_returned: ReturnedCheck,
    },
    /// The difference between a document as it was read and as the caller left it, provided that the stored document has not
    /// changed since.
    Modify {
        collection: String,
        id: RawBson,
        read: RawDocumentBuf,
        from: RawDocumentBuf,
        to: Doc,
        check_returned: ReturnedCheck,
    },
    /// A removal of stored documents.
    Delete {
        collection: String,
        target: WriteTarget,
        returning: Option<ReturnDocument>,
        rights: Rights,
    },
    /// Makes documents conform to their definitions.
    Repair {
        collection: String,
        ids: Vec<RawBson>,
    },
}

/// The stored documents that a write changes.
#[derive(Debug, Clone)]
pub(crate) enum WriteTarget {
    /// The document with this `_id`, if it matches the condition.
    One { id: RawBson, condition: Filter },
    /// All documents that match.
    Matching(Filter),
    /// The first document that matches, in this order.
    First { filter: Filter, sort: Sort },
}

/// The change of the documents that an update finds.
#[derive(Debug, Clone)]
pub(crate) enum WriteChange {
    /// Changes of fields by their paths.
    Update(Update),
    /// The fields of another document, without its `_id`. The target is one document.
    Replace(Doc),
    /// The stages of a pipeline.
    Pipeline(UpdatePipeline),
}

impl WriteChange {
    /// The paths that the change names.
    pub(super) fn paths(&self) -> Vec<&str> {
        match self {
            WriteChange::Update(update) => update.paths().collect(),
            WriteChange::Replace(_) => Vec::new(),
            WriteChange::Pipeline(pipeline) => pipeline.named_paths().collect(),
        }
    }
}

impl WriteTarget {
    pub(crate) fn one(id: RawBson) -> Self {
        WriteTarget::One {
            id,
            condition: Filter::default(),
        }
    }

    pub(super) fn is_one(&self) -> bool {
        !matches!(self, WriteTarget::Matching(_))
    }

    /// The filter of the documents, as a store takes it.
    pub(super) fn filter(&self) -> Filter {
        match self {
            WriteTarget::One { id, condition } => {
                Filter::Path("_id".into(), Test::Eq(id.clone())).and(condition.clone())
            }
            WriteTarget::Matching(filter) | WriteTarget::First { filter, .. } => filter.clone(),
        }
    }

    /// The order that decides which documents are meant.
    pub(super) fn sort(&self) -> &Sort {
        static NONE: LazyLock<Sort> = LazyLock::new(Sort::default);
        match self {
            WriteTarget::First { sort, .. } => sort,
            WriteTarget::One { .. } | WriteTarget::Matching(_) => &NONE,
        }
    }

    /// The filter of the documents, without the condition on `_id`.
    pub(super) fn condition(&self) -> &Filter {
        match self {
            WriteTarget::One { condition, .. } => condition,
            WriteTarget::Matching(filter) | WriteTarget::First { filter, .. } => filter,
        }
    }
}

/// The change that an upsert makes to the stored document that has its unique key.
#[derive(Debug, Clone)]
pub(crate) enum OnConflict {
    /// Gives it the fields of the new one.
    Replace,
    /// Changes it.
    Update { change: Update, is_typed: bool },
    /// Leaves it as it is.
    Keep,
}

/// Makes a write return the documents that match, without their cold parts.
#[derive(Debug, Clone)]
pub(crate) struct ReturnDocument {
    /// Whether the documents are returned as they were before the write, not as they are after it. A delete always sets it.
    pub(crate) before: bool,
    pub(crate) check: ReturnedCheck,
}

/// A check of the whole documents that a write returns, as they will be stored. An error rolls the unit
/// back. The check runs again each time that the store runs the unit again.
#[derive(Clone)]
pub(crate) struct ReturnedCheck(Arc<ReturnedCheckFn>);

type ReturnedCheckFn = dyn Fn(&[Doc]) -> Result<()> + Send + Sync;

impl ReturnedCheck {
    pub(crate) fn new(check: impl Fn(&[Doc]) -> Result<()> + Send + Sync + 'static) -> Self {
        ReturnedCheck(Arc::new(check))
    }

    pub(super) fn run(&self, documents: &[Doc]) -> Result<()> {
        (self.0)(documents)
    }
}

impl fmt::Debug for ReturnedCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReturnedCheck").finish_non_exhaustive()
    }
}

/// The result of a write.
#[derive(Debug, Default)]
pub(crate) struct WriteOutcome {
    /// The number of documents that matched.
    pub(crate) matched: u64,
    /// The number of matched documents that are different now.
    pub(crate) modified: u64,
    /// Whether an upsert inserted a document.
    pub(crate) inserted: bool,
    /// The `_id` of the document that an update has inserted.
    pub(crate) inserted_id: Option<RawBson>,
    /// The cost of the whole unit.
    pub(crate) cost: Cost,
    /// The cost of each step, if it was asked for.
    pub(crate) steps: Vec<PlanStep>,
    /// Whether the unit has left refreshes to the worker of the outbox.
    pub(crate) has_queued: bool,
    /// The documents that the write has returned.
    pub(super) returned: Vec<Digest>,
}

impl WriteOutcome {
    /// The part of it that the caller sees.
    pub(super) fn told(&self) -> Told {
        Told {
            matched: self.matched,
            modified: self.modified,
            inserted: self.inserted,
            inserted_id: self.inserted_id.clone(),
            returned: self.returned.clone(),
        }
    }
}

impl Write {
    /// The collection that the user wrote to.
    pub(crate) fn collection(&self) -> &str {
        match self {
            Write::Insert { collection, .. }
            | Write::Update { collection, .. }
            | Write::Replace { collection, .. }
            | Write::UpsertBy { collection, .. }
            | Write::Modify { collection, .. }
            | Write::Delete { collection, .. }
            | Write::Repair { collection, .. } => collection,
        }
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Write::Insert { documents, .. } | Write::Replace { documents, .. } => {
                documents.is_empty()
            }
            _ => false,
        }
    }

    /// The number of documents that it names, or 1.
    pub(crate) fn documents(&self) -> usize {
        match self {
            Write::Insert { documents, .. } | Write::Replace { documents, .. } => documents.len(),
            Write::Repair { ids, .. } => ids.len(),
            _ => 1,
        }
    }

    /// The filter by which the write finds its documents, if it has one.
    pub(crate) fn filter(&self) -> Option<Filter> {
        match self {
            Write::Update { target, .. } | Write::Delete { target, .. } => Some(target.filter()),
            Write::UpsertBy { key, .. } => Some(key.clone()),
            Write::Insert { .. }
            | Write::Replace { .. }
            | Write::Modify { .. }
            | Write::Repair { .. } => None,
        }
    }

    /// The operation, for traces.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Write::Insert { .. } => "insert",
            Write::Update { .. } => "update",
            Write::Replace { .. } => "replace",
            Write::UpsertBy { .. } => "upsert",
            Write::Modify { .. } => "modify",
            Write::Delete { .. } => "delete",
            Write::Repair { .. } => "repair",
        }
    }
}
