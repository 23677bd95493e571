//! Runs the plan of a query.

mod sink;

use std::ops::ControlFlow;

use bson::{RawBson, RawDocument};

use self::sink::Sink;
use super::{
    ids::{Ids, Seen, TopN},
    layout::damaged,
    plan::{Conditions, OrderSpec, Plan, SortStrategy, fields_len, plan},
    scan::{Documents, PlanEntries},
    schema::Collection,
    view::View,
    wait::YieldBudget,
};
use crate::{
    error::Result,
    mql::{Direction, Filter, Sort},
    store::Cost,
};

/// A query without its collection and its projection.
#[derive(Clone, Copy)]
pub(super) struct Query<'q> {
    /// All of them must match.
    pub(super) filters: &'q [&'q Filter],
    pub(super) sort: &'q Sort,
    pub(super) skip: u64,
    pub(super) limit: Option<u64>,
    pub(super) after: Option<&'q [RawBson]>,
}

/// The resources of a query that runs.
pub(super) struct ExecContext<'r> {
    pub(super) budget: &'r mut YieldBudget,
    pub(super) cost: &'r mut Cost,
    /// The memory that ids and sort keys may take, in bytes.
    pub(super) memory: usize,
}

impl ExecContext<'_> {
    /// Counts a step, and ends a chunk of them if it is time.
    #[inline]
    async fn end_chunk_if_due(&mut self) -> Result<()> {
        match self.budget.is_due() {
            true => self.budget.end_chunk().await,
            false => Ok(()),
        }
    }
}

/// A function that receives the key of `_id`, and the document.
pub(super) type Emit<'e> =
    &'e mut (dyn FnMut(&[u8], &RawDocument) -> Result<ControlFlow<()>> + Send);

/// Passes the documents of a collection that a query finds to `emit`, in the order of the query.
pub(super) async fn find(
    view: View<'_>,
    collection: &Collection,
    query: &Query<'_>,
    context: &mut ExecContext<'_>,
    emit: Emit<'_>,
) -> Result<ControlFlow<()>> {
    let conditions = Conditions::from_filters(query.filters);
    let wanted = OrderSpec::new(query.sort, query.after);
    let plan = plan(collection, &conditions, &wanted);
    execute(view, collection, query, &plan, context, emit).await
}

/// Passes the documents that a plan finds to `emit`.
pub(super) async fn execute(
    view: View<'_>,
    collection: &Collection,
    query: &Query<'_>,
    plan: &Plan<'_, '_>,
    context: &mut ExecContext<'_>,
    emit: Emit<'_>,
) -> Result<ControlFlow<()>> {
    if query.limit == Some(0) {
        return Ok(ControlFlow::Continue(()));
    }
    let wanted = OrderSpec::new(query.sort, query.after);
    let order = plan.order(&wanted);
    let mut execution = Execution {
        sink: Sink::new(&collection.name, query, plan, order, emit)?,
        documents: Documents::new(view, collection),
        entries: plan.entries(view),
        context,
    };
    let flow = match order {
        SortStrategy::IndexOrder => execution.in_index_order().await?,
        SortStrategy::PartialSort { fields } => execution.in_sorted_runs(fields, wanted.id).await?,
        SortStrategy::SortById => execution.sorted_by_id(wanted.id).await?,
        SortStrategy::FullSort => execution.sorted(query).await?,
    };
    Ok(match execution.sink.stopped_by_caller(flow) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
}

/// The run of one plan: entries become documents, and documents that match go into the sink.
struct Execution<'a, 'p, 'e, 'c, 'r> {
    sink: Sink<'e>,
    documents: Documents<'a>,
    entries: PlanEntries<'a, 'p>,
    context: &'c mut ExecContext<'r>,
}

impl Execution<'_, '_, '_, '_, '_> {
    /// The entries are in the requested order.
    async fn in_index_order(&mut self) -> Result<ControlFlow<()>> {
        let mut seen = Seen::default();
        while let Some(entry) = self.entries.next(self.context.cost)? {
            self.context.end_chunk_if_due().await?;
            if entry.repeats && !seen.add(entry.id(), self.context.memory)? {
                continue;
            }
            if self.sink.passes_over() {
                continue;
            }
            let (sink, cost) = (&mut self.sink, &mut *self.context.cost);
            let flow = self
                .documents
                .with(&entry, |id, document| sink.offer(id, document, cost))?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The entries are in the requested order but for `_id`: each run of entries that agree in the
    /// first `fields` is sorted by it.
    async fn in_sorted_runs(&mut self, fields: usize, by_id: Direction) -> Result<ControlFlow<()>> {
        let mut ids = Ids::default();
        let mut prefix: Vec<u8> = Vec::new();
        loop {
            let entry = self.entries.next(self.context.cost)?;
            self.context.end_chunk_if_due().await?;
            let goes_on = match &entry {
                None => false,
                Some(entry) => entry.key.starts_with(&prefix) && !ids.is_empty(),
            };
            if !goes_on {
                // The entry, if there is one, is the first of the next run.
                if self.offer_by_id(&mut ids, by_id).await?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                ids.clear();
            }
            let Some(entry) = entry else {
                return Ok(ControlFlow::Continue(()));
            };
            if ids.is_empty() {
                let len = fields_len(self.entries.source(), &entry.key, fields)
                    .ok_or_else(|| damaged("an index entry cannot be read"))?;
                prefix.clear();
                prefix.extend_from_slice(&entry.key[..len]);
            }
            ids.push(entry.id(), self.context.memory)?;
        }
    }

    /// The requested order is that of `_id`, and the entries are in another one.
    async fn sorted_by_id(&mut self, by_id: Direction) -> Result<ControlFlow<()>> {
        let mut ids = Ids::default();
        while let Some(entry) = self.entries.next(self.context.cost)? {
            self.context.end_chunk_if_due().await?;
            ids.push(entry.id(), self.context.memory)?;
        }
        self.offer_by_id(&mut ids, by_id).await
    }

    async fn offer_by_id(&mut self, ids: &mut Ids, by_id: Direction) -> Result<ControlFlow<()>> {
        ids.sort(by_id);
        for id in ids.iter() {
            self.context.end_chunk_if_due().await?;
            if self.sink.passes_over() {
                continue;
            }
            let (sink, cost) = (&mut self.sink, &mut *self.context.cost);
            let flow = self
                .documents
                .by_id(id, |id, document| sink.offer(id, document, cost))?;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// No index gives the requested order.
    async fn sorted(&mut self, query: &Query<'_>) -> Result<ControlFlow<()>> {
        let count = query.limit.map(|limit| limit.saturating_add(query.skip));
        let mut top = TopN::new(count, self.context.memory);
        let mut seen = Seen::default();
        while let Some(entry) = self.entries.next(self.context.cost)? {
            self.context.end_chunk_if_due().await?;
            if entry.repeats && !seen.add(entry.id(), self.context.memory)? {
                continue;
            }
            let (sink, cost) = (&self.sink, &mut *self.context.cost);
            let _ = self.documents.with(&entry, |id, document| {
                cost.documents_examined += 1;
                if let Some(key) = sink.sort_key(document)? {
                    top.push(key, id)?;
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        self.sink.skip_comparisons();
        for sorted in top.into_sorted() {
            self.context.end_chunk_if_due().await?;
            if self.sink.passes_over() {
                continue;
            }
            // The document was counted as examined when its key was made.
            let mut again = Cost::default();
            let sink = &mut self.sink;
            let flow = self.documents.by_id(&sorted.id, |id, document| {
                sink.offer(id, document, &mut again)
            })?;
            self.context.cost.documents_returned += again.documents_returned;
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Counts the documents that a plan finds, or returns `None` if that takes a look at them.
pub(super) async fn count_entries(
    view: View<'_>,
    query: &Query<'_>,
    plan: &Plan<'_, '_>,
    context: &mut ExecContext<'_>,
) -> Result<Option<u64>> {
    let Plan::One(access) = plan else {
        return Ok(None);
    };
    if !access.exact || access.source.repeats() || query.after.is_some() {
        return Ok(None);
    }
    let mut entries = plan.entries(view);
    let mut count = 0;
    let enough = query.limit.map(|limit| limit.saturating_add(query.skip));
    while Some(count) != enough && entries.next(context.cost)?.is_some() {
        count += 1;
        context.end_chunk_if_due().await?;
    }
    Ok(Some(count.saturating_sub(query.skip)))
}
