//! The one engine through which every write goes.
//!
//! A write, typed or raw, from a repository or a transaction, arrives here as BSON. The [`pipeline`] carries it out in the
//! order that the relations need, by the catalog alone. Effects on base data and the kinds of derived fields have a file each.

mod audit;
mod base;
mod cold;
mod delete_rules;
mod derived;
mod import;
mod inverse;
mod long_lists;
mod outbox;
mod pending;
mod pipeline;
mod places;
mod plan;
mod policy;
mod read_only;
mod references;
mod remote;
mod repair;
mod rewrites;
mod rights;
mod run;
mod sequence;
#[cfg(test)]
mod tests;
mod unit;
mod validation;
mod versions;
mod write;

pub(crate) use audit::{AuditScope, Checked, check, is_of_documents};
pub use audit::{Finding, Problem};
pub use derived::DerivedKind;
pub(crate) use derived::{children_of, shown};
pub(crate) use import::{ImportOrigin, Imported, ImportedDocuments};
pub use outbox::{DeferredRefreshes, FailedRefresh};
pub(crate) use outbox::{
    RefreshError, Retry, Waiting, deferred_refreshes, has_records, has_waiting, newest_waiting,
    oldest_waiting,
};
pub(crate) use pending::{as_read, is_read_as_pending};
pub(crate) use plan::plan;
pub use plan::{PlanStep, PlannedChanges, WritePlan};
pub(crate) use rewrites::{Rewrites, Told};
pub use rights::CollectionRights;
pub(crate) use rights::Rights;
pub(crate) use run::{Job, NamedDocument, NamedWrite, run};
pub(crate) use sequence::{IdNumbering, SequenceCounter, last_number};
pub(crate) use unit::Doc;
pub(crate) use versions::importable;
pub(crate) use write::{
    OnConflict, ReturnDocument, ReturnedCheck, Write, WriteChange, WriteOutcome, WriteTarget,
};
