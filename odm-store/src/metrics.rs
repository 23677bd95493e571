//! Metrics, through the facade of the crate `metrics`. Without the feature of that name they do nothing.

use std::time::Duration;

/// The costs of an operation, by the names of their counters.
pub type Costs = [(&'static str, u64); 5];

/// Records an operation that has succeeded.
pub fn operation(name: &'static str, collection: &str, elapsed: Duration, costs: Costs) {
    #[cfg(feature = "metrics")]
    {
        let collection: std::sync::Arc<str> = collection.into();
        let labels = || {
            vec![
                ::metrics::Label::new("operation", name),
                collection_label(&collection),
            ]
        };
        ::metrics::histogram!("odm_operation_duration_seconds", labels()).record(elapsed);
        for (counter, number) in costs {
            if number > 0 {
                ::metrics::counter!(counter, labels()).increment(number);
            }
        }
    }
    #[cfg(not(feature = "metrics"))]
    let _ = (name, collection, elapsed, costs);
}

#[cfg(feature = "metrics")]
fn collection_label(collection: &std::sync::Arc<str>) -> ::metrics::Label {
    ::metrics::Label::new("collection", collection.clone())
}

/// Records an operation that has failed, by the kind of its error.
#[cold]
pub fn operation_failed(name: &'static str, collection: &str, kind: &impl std::fmt::Debug) {
    #[cfg(feature = "metrics")]
    ::metrics::counter!(
        "odm_operation_errors_total",
        "operation" => name,
        "collection" => collection.to_owned(),
        "kind" => format!("{kind:?}"),
    )
    .increment(1);
    #[cfg(not(feature = "metrics"))]
    let _ = (name, collection, kind);
}

/// The thread that makes a commit of an embedded store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitThread {
    /// That of the caller.
    Caller,
    /// The store's own.
    Store,
}

/// Records a commit of an embedded store, which has this many units.
pub fn commit(units: usize, thread: CommitThread) {
    #[cfg(feature = "metrics")]
    {
        let thread = match thread {
            CommitThread::Caller => "caller",
            CommitThread::Store => "store",
        };
        ::metrics::histogram!("odm_commit_units", "thread" => thread).record(units as f64);
    }
    #[cfg(not(feature = "metrics"))]
    let _ = (units, thread);
}

/// Records a transaction of an embedded store that has lost a conflict.
#[cold]
pub fn transaction_conflict() {
    #[cfg(feature = "metrics")]
    ::metrics::counter!("odm_transaction_conflicts_total").increment(1);
}

/// Records a transaction of an embedded store whose writes are made again, on a newer state.
pub fn transaction_rewrite() {
    #[cfg(feature = "metrics")]
    ::metrics::counter!("odm_transaction_rewrites_total").increment(1);
}

/// Records that the closure of a transaction runs again.
#[cold]
pub fn transaction_retry(database: &'static str) {
    #[cfg(feature = "metrics")]
    ::metrics::counter!("odm_transaction_retries_total", "database" => database).increment(1);
    #[cfg(not(feature = "metrics"))]
    let _ = database;
}

/// Records a unit of the embedded store that writes more than half of the documents that it may.
#[cold]
pub fn large_unit() {
    #[cfg(feature = "metrics")]
    ::metrics::counter!("odm_large_units_total").increment(1);
}

/// Whether there are metrics.
pub const IS_ON: bool = cfg!(feature = "metrics");

/// Records a unit of the worker of the outbox.
pub fn outbox_batch(database: &'static str) {
    #[cfg(feature = "metrics")]
    ::metrics::counter!("odm_outbox_batches_total", "database" => database).increment(1);
    #[cfg(not(feature = "metrics"))]
    let _ = database;
}

/// Records the backlog of the worker of the outbox: the waiting records, the age of the oldest in milliseconds, and the failed refreshes.
pub fn outbox(database: &'static str, waiting: u64, oldest: i64, failed: usize) {
    #[cfg(feature = "metrics")]
    {
        let gauge = |name: &'static str, value: f64| {
            ::metrics::gauge!(name, "database" => database).set(value);
        };
        gauge("odm_outbox_waiting", waiting as f64);
        gauge("odm_outbox_oldest_seconds", oldest as f64 / 1000.0);
        gauge("odm_outbox_parked", failed as f64);
    }
    #[cfg(not(feature = "metrics"))]
    let _ = (database, waiting, oldest, failed);
}

/// Records a sync of the log.
pub fn log_sync(elapsed: Duration) {
    #[cfg(feature = "metrics")]
    ::metrics::histogram!("odm_log_sync_duration_seconds").record(elapsed);
    #[cfg(not(feature = "metrics"))]
    let _ = elapsed;
}

/// Records a checkpoint, with the bytes in memory that it has written.
pub fn checkpoint(elapsed: Duration, bytes: usize) {
    #[cfg(feature = "metrics")]
    {
        ::metrics::histogram!("odm_checkpoint_duration_seconds").record(elapsed);
        ::metrics::histogram!("odm_checkpoint_bytes").record(bytes as f64);
    }
    #[cfg(not(feature = "metrics"))]
    let _ = (elapsed, bytes);
}

/// Records a wait of writers for the end of a checkpoint.
pub fn checkpoint_wait(elapsed: Duration) {
    #[cfg(feature = "metrics")]
    ::metrics::histogram!("odm_checkpoint_wait_duration_seconds").record(elapsed);
    #[cfg(not(feature = "metrics"))]
    let _ = elapsed;
}

/// Records a changed number of earlier states that readers of an embedded store hold.
pub fn earlier_states(before: usize, now: usize) {
    #[cfg(feature = "metrics")]
    if before != now {
        // The sum over all stores.
        ::metrics::gauge!("odm_earlier_states").increment(now as f64 - before as f64);
    }
    #[cfg(not(feature = "metrics"))]
    let _ = (before, now);
}
