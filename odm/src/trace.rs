//! What an operation leaves behind: its cost, for [`measure`](fn@crate::measure) and for `tracing`.

use crate::{measure, store::Cost};

/// Adds the cost of an operation to what the current task measures, and emits it as an event.
pub(crate) fn record_cost(operation: &'static str, collection: &str, cost: Cost) {
    measure::report(cost);
    tracing::debug!(
        target: "odm",
        operation,
        collection,
        queries = cost.queries,
        keys_examined = cost.keys_examined,
        documents_examined = cost.documents_examined,
        documents_returned = cost.documents_returned,
        documents_written = cost.documents_written,
    );
}

/// Whether the current task traces the steps of writes. The store may run them on another thread, which
/// cannot tell.
pub(crate) fn is_tracing_steps() -> bool {
    tracing::enabled!(target: "odm", tracing::Level::TRACE)
}

/// Emits the cost of one step of a write as an event.
pub(crate) fn record_step(operation: &'static str, collection: &str, step: &str, cost: Cost) {
    tracing::trace!(
        target: "odm",
        operation,
        collection,
        step,
        keys_examined = cost.keys_examined,
        documents_examined = cost.documents_examined,
        documents_written = cost.documents_written,
    );
}
