//! The reports of an operation: its cost, for [`measure`](fn@crate::measure), and events for `tracing`.

use std::time::{Duration, Instant};

use odm_store::{Cost, Error, Find, Result, metrics};

use crate::measure;

/// The limits above which an operation causes a warning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WarningLimits {
    pub(crate) elapsed: Duration,
    pub(crate) documents_scanned: u64,
}

impl Default for WarningLimits {
    fn default() -> Self {
        WarningLimits {
            elapsed: Duration::from_millis(100),
            documents_scanned: 10_000,
        }
    }
}

/// An operation may take the time limit once more for each so many documents.
const DOCUMENTS: u64 = 100;

/// How many times the time limit an operation on so many documents may take.
fn times(documents: u64) -> u32 {
    let times = u32::try_from(documents / DOCUMENTS).unwrap_or(u32::MAX);
    times.saturating_add(1)
}

/// An operation that has begun.
pub(crate) struct Operation<'a> {
    name: &'static str,
    collection: &'a str,
    /// The number of documents that it was given; `None` if it reads all, which causes no warning.
    documents: Option<usize>,
    /// The number of documents that its unit has written, if the unit has other writes, too.
    written: u64,
    /// Whether it can cause a warning because of its time.
    warns: bool,
    /// Empty if there are no metrics and no subscriber takes even the warnings: then the clock is not read.
    started: Option<Instant>,
}

impl<'a> Operation<'a> {
    pub(crate) fn begin(name: &'static str, collection: &'a str) -> Self {
        let is_enabled = tracing::enabled!(target: "odm", tracing::Level::WARN);
        Operation {
            name,
            collection,
            documents: Some(1),
            written: 0,
            warns: true,
            started: (is_enabled || cfg!(feature = "metrics")).then(Instant::now),
        }
    }

    /// Makes it an operation on so many documents, which raises the time limit.
    pub(crate) fn of(mut self, documents: usize) -> Self {
        self.documents = Some(documents);
        self
    }

    /// Makes it an operation on all documents, as intended by its caller.
    pub(crate) fn of_all(mut self) -> Self {
        self.documents = None;
        self
    }

    /// Makes it a part of a unit, in which another part warns.
    pub(crate) fn without_warning(mut self) -> Self {
        self.warns = false;
        self
    }

    /// Makes it a part of a unit that has written so many documents, whose time counts for each operation.
    pub(crate) fn in_unit_of(mut self, written: u64) -> Self {
        self.written = written;
        self
    }

    /// Counts the error of an operation that fails.
    pub(crate) fn observe<T>(&self, result: Result<T>) -> Result<T> {
        result.inspect_err(|error| self.failed(error))
    }

    /// Counts the error.
    pub(crate) fn failed(&self, error: &Error) {
        metrics::operation_failed(self.name, self.collection, &error.kind());
    }

    /// Adds the cost to the measurement of the current task, and returns the operation if there are events to emit.
    pub(crate) fn end(self, cost: Cost, limits: WarningLimits) -> Option<EndedOperation<'a>> {
        measure::report(self.name, self.collection, cost);
        let elapsed = self.started?.elapsed();
        let costs = [
            ("odm_keys_examined_total", cost.keys_examined),
            ("odm_documents_examined_total", cost.documents_examined),
            ("odm_documents_scanned_total", cost.documents_scanned),
            ("odm_documents_returned_total", cost.documents_returned),
            ("odm_documents_written_total", cost.documents_written),
        ];
        metrics::operation(self.name, self.collection, elapsed, costs);
        let is_judged = self.documents.is_some();
        let given = u64::try_from(self.documents.unwrap_or_default()).unwrap_or(u64::MAX);
        // The number of documents that a filter finds, and of effects of a write, is known only now.
        let changed = given.max(self.written).max(cost.documents_written);
        let most_keys = limits.documents_scanned.saturating_mul(times(given).into());
        let limits = WarningLimits {
            elapsed: limits.elapsed.saturating_mul(times(changed)),
            ..limits
        };
        let used = cost
            .documents_returned
            .saturating_add(cost.documents_written);
        let ended = EndedOperation {
            is_slow: is_judged && self.warns && elapsed > limits.elapsed,
            is_scan: is_judged && cost.documents_scanned > limits.documents_scanned,
            is_index_scan: is_judged && cost.keys_examined.saturating_sub(used) > most_keys,
            operation: self,
            elapsed,
            cost,
            limits,
            most_keys,
        };
        let is_enabled = tracing::enabled!(target: "odm", tracing::Level::DEBUG);
        let warns = ended.is_slow || ended.is_scan || ended.is_index_scan;
        (is_enabled || warns).then_some(ended)
    }
}

/// An operation with events to emit.
pub(crate) struct EndedOperation<'a> {
    operation: Operation<'a>,
    elapsed: Duration,
    cost: Cost,
    limits: WarningLimits,
    /// The number of keys that it may examine in vain.
    most_keys: u64,
    is_slow: bool,
    is_scan: bool,
    is_index_scan: bool,
}

/// How an operation found its documents, without any value of a filter.
#[derive(Default)]
pub(crate) struct QueryShape {
    filter: Option<String>,
    sort: Option<String>,
    index: Option<String>,
}

impl QueryShape {
    pub(crate) fn new(find: &Find, index: Option<String>) -> Self {
        QueryShape {
            filter: Some(find.filter.shape()),
            sort: (!find.sort.is_empty()).then(|| find.sort.to_string()),
            index,
        }
    }
}

impl EndedOperation<'_> {
    pub(crate) fn emit(self, query: &QueryShape) {
        let (name, collection, cost) = (self.operation.name, self.operation.collection, self.cost);
        let elapsed_us = u64::try_from(self.elapsed.as_micros()).unwrap_or(u64::MAX);
        macro_rules! emit {
            ($level:ident, $($message:tt)+) => {
                tracing::event!(
                    target: "odm",
                    tracing::Level::$level,
                    operation = name,
                    collection,
                    filter = query.filter.as_deref(),
                    sort = query.sort.as_deref(),
                    index = query.index.as_deref(),
                    elapsed_us,
                    queries = cost.queries,
                    keys_examined = cost.keys_examined,
                    documents_examined = cost.documents_examined,
                    documents_scanned = cost.documents_scanned,
                    documents_returned = cost.documents_returned,
                    documents_written = cost.documents_written,
                    $($message)+
                )
            };
        }
        emit!(DEBUG, "operation");
        let limits = &self.limits;
        if self.is_slow {
            emit!(
                WARN,
                "slow operation: it took longer than {:?}",
                limits.elapsed
            );
        }
        if self.is_scan {
            emit!(
                WARN,
                "large scan: more than {} documents were read without an index",
                limits.documents_scanned
            );
        }
        if self.is_index_scan {
            emit!(
                WARN,
                "large scan of an index: it examined more than {} keys of which no document was returned or written",
                self.most_keys
            );
        }
    }
}

/// Whether the current task traces the steps of writes. The store may run them on another thread, where this is not known.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether an operation with a limit of ten seconds is slow after so many seconds.
    fn is_slow(operation: Operation<'_>, documents_written: u64, seconds: u64) -> bool {
        let operation = Operation {
            started: Instant::now().checked_sub(Duration::from_secs(seconds)),
            ..operation
        };
        let limits = WarningLimits {
            elapsed: Duration::from_secs(10),
            ..WarningLimits::default()
        };
        let cost = Cost {
            documents_written,
            ..Cost::default()
        };
        let ended = operation.end(cost, limits);
        ended.is_some_and(|ended| ended.is_slow)
    }

    #[test]
    fn an_operation_on_many_documents_may_take_as_much_longer() {
        let of = |documents| Operation::begin("insert", "things").of(documents);
        assert!(is_slow(of(1), 0, 11) && !is_slow(of(1), 0, 9));
        assert!(is_slow(of(99), 0, 11) && !is_slow(of(100), 0, 19));
        assert!(is_slow(of(500), 0, 61) && !is_slow(of(500), 0, 59));
    }

    #[test]
    fn an_operation_that_writes_many_documents_may_take_as_much_longer() {
        let one = || Operation::begin("update", "things");
        assert!(is_slow(one(), 99, 11) && !is_slow(one(), 100, 19));
        assert!(is_slow(one(), 500, 61) && !is_slow(one(), 500, 59));
        // Once for the given and the written documents together.
        assert!(is_slow(one().of(500), 500, 61) && !is_slow(one().of(500), 7, 59));
        // The other operations of its unit take time, too.
        let in_unit = || one().in_unit_of(500);
        assert!(is_slow(in_unit(), 100, 61) && !is_slow(in_unit(), 100, 59));
    }
}
