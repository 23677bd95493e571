//! What an operation leaves behind: its cost, for [`measure`](fn@crate::measure), and events for `tracing`.

use std::time::{Duration, Instant};

use odm_store::{Cost, Error, Find, Result, metrics};

use crate::measure;

/// What an operation may take before there is a warning.
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

/// The number of documents for which an operation that was given so many may take the time of another one.
const DOCUMENTS: usize = 100;

/// An operation that has begun.
pub(crate) struct Operation<'a> {
    name: &'static str,
    collection: &'a str,
    /// The number of documents that it was given; `None` if it reads all, of which no warning tells.
    documents: Option<usize>,
    /// Whether a warning may tell of the time that it takes.
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
            warns: true,
            started: (is_enabled || cfg!(feature = "metrics")).then(Instant::now),
        }
    }

    /// Of so many documents, which may take so much longer.
    pub(crate) fn of(mut self, documents: usize) -> Self {
        self.documents = Some(documents);
        self
    }

    /// Of all documents, which is no mistake of who called it.
    pub(crate) fn of_all(mut self) -> Self {
        self.documents = None;
        self
    }

    /// A part of a unit, of which another part warns.
    pub(crate) fn without_warning(mut self) -> Self {
        self.warns = false;
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

    /// Adds the cost to what the current task measures, and returns the operation if there are events to emit.
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
        let times = self.documents.unwrap_or_default() / DOCUMENTS;
        let times = u32::try_from(times).unwrap_or(u32::MAX).saturating_add(1);
        let limits = WarningLimits {
            elapsed: limits.elapsed.saturating_mul(times),
            ..limits
        };
        let used = cost
            .documents_returned
            .saturating_add(cost.documents_written);
        let most_keys = limits.documents_scanned.saturating_mul(times.into());
        let ended = EndedOperation {
            is_slow: is_judged && self.warns && elapsed > limits.elapsed,
            is_scan: is_judged && cost.documents_scanned > limits.documents_scanned,
            is_index_scan: is_judged && cost.keys_examined.saturating_sub(used) > most_keys,
            operation: self,
            elapsed,
            cost,
            limits,
        };
        let is_enabled = tracing::enabled!(target: "odm", tracing::Level::DEBUG);
        let warns = ended.is_slow || ended.is_scan || ended.is_index_scan;
        (is_enabled || warns).then_some(ended)
    }
}

/// An operation of which there are events to emit.
pub(crate) struct EndedOperation<'a> {
    operation: Operation<'a>,
    elapsed: Duration,
    cost: Cost,
    limits: WarningLimits,
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
                limits.documents_scanned
            );
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn is_slow(documents: usize, seconds: u64) -> bool {
        let operation = Operation {
            started: Instant::now().checked_sub(Duration::from_secs(seconds)),
            ..Operation::begin("insert", "things").of(documents)
        };
        let limits = WarningLimits {
            elapsed: Duration::from_secs(10),
            ..WarningLimits::default()
        };
        let ended = operation.end(Cost::default(), limits);
        ended.is_some_and(|ended| ended.is_slow)
    }

    #[test]
    fn an_operation_on_many_documents_may_take_as_much_longer() {
        assert!(is_slow(1, 11) && !is_slow(1, 9));
        assert!(is_slow(99, 11) && !is_slow(100, 19));
        assert!(is_slow(500, 61) && !is_slow(500, 59));
    }
}
