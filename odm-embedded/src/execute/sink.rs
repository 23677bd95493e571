//! The last step of a query.

use std::ops::ControlFlow;

use bson::{RawBsonRef, RawDocument};
use odm_mql::{Filter, Sort, path};
use odm_store::{Cost, Error, ErrorKind, Result};

use super::{
    super::plan::{Plan, SortStrategy},
    Emit, Query,
};

/// The last step: compares documents, which come in order, with the filter and the position, and passes on the documents between skip and
/// limit.
pub(super) struct Sink<'e> {
    collection: &'e str,
    filters: &'e [&'e Filter],
    /// The total order, if documents are compared by it.
    total: Sort,
    /// The position that documents must come after, until the first that does.
    after: Option<Vec<u8>>,
    skip: u64,
    left: Option<u64>,
    emit: Emit<'e>,
}

impl<'e> Sink<'e> {
    pub(super) fn new(
        collection: &'e str,
        query: &Query<'e>,
        plan: &Plan<'_, '_>,
        order: SortStrategy,
        emit: Emit<'e>,
    ) -> Result<Self> {
        // Most queries do not compare documents in an order.
        let total = match order {
            SortStrategy::FullSort => query.sort.total(),
            _ if query.after.is_some() => query.sort.total(),
            _ => Sort::new(),
        };
        let after = match query.after {
            None => None,
            Some(after) if after.len() == total.keys().len() => Some(total.encode_values(after)),
            Some(_) => {
                return Err(Error::new(
                    ErrorKind::InvalidQuery,
                    "invalid `after`: it needs a value for each key of the sort, and for `_id`",
                ));
            }
        };
        let exact = plan.is_exact();
        Ok(Sink {
            collection,
            filters: if exact { &[] } else { query.filters },
            total,
            after,
            skip: query.skip,
            left: query.limit,
            emit,
        })
    }

    /// Stops comparing documents, which were compared when their sort keys were made.
    pub(super) fn skip_comparisons(&mut self) {
        self.filters = &[];
        self.after = None;
    }

    /// Whether the next document is skipped without reading it.
    pub(super) fn passes_over(&mut self) -> bool {
        let skips_unread = self.skip > 0 && self.filters.is_empty() && self.after.is_none();
        if skips_unread {
            self.skip -= 1;
        }
        skips_unread
    }

    fn matches(&self, document: &RawDocument) -> Result<bool> {
        for filter in self.filters {
            let matches = filter.matches(document).map_err(|error| {
                let id = path::get(document, "_id").unwrap_or(RawBsonRef::Null);
                Error::failed_filter(self.collection, id, error)
            })?;
            if !matches {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The sort key of a document that matches and comes after the position.
    pub(super) fn sort_key(&self, document: &RawDocument) -> Result<Option<Vec<u8>>> {
        if !self.matches(document)? {
            return Ok(None);
        }
        let key = self.total.encode_key(document);
        let wanted = self.after.as_ref().is_none_or(|after| key > *after);
        Ok(wanted.then_some(key))
    }

    pub(super) fn offer(
        &mut self,
        id: &[u8],
        document: &RawDocument,
        cost: &mut Cost,
    ) -> Result<ControlFlow<()>> {
        cost.documents_examined += 1;
        if !self.matches(document)? {
            return Ok(ControlFlow::Continue(()));
        }
        if let Some(after) = &self.after {
            if self.total.encode_key(document) <= *after {
                return Ok(ControlFlow::Continue(()));
            }
            // All documents that follow come after it as well.
            self.after = None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(ControlFlow::Continue(()));
        }
        cost.documents_returned += 1;
        let flow = (self.emit)(id, document)?;
        if let Some(left) = &mut self.left {
            *left -= 1;
            if *left == 0 && flow == ControlFlow::Continue(()) {
                return Ok(ControlFlow::Break(()));
            }
        }
        if flow == ControlFlow::Break(()) {
            // Marks that the caller has stopped, not the limit.
            self.left = None;
        }
        Ok(flow)
    }

    pub(super) fn stopped_by_caller(&self, flow: ControlFlow<()>) -> bool {
        flow == ControlFlow::Break(()) && self.left.is_none()
    }
}
