//! Runs the plan of a query.
//!
//! A query runs in steps that are not async, so that most queries, which end in their first step, keep no
//! state in a future. A step ends at the end of a chunk, where a read lets other tasks run.

mod sink;

use std::{ops::ControlFlow, vec};

use bson::{RawBson, RawDocument};
use odm_mql::{Direction, Filter, Sort};
use odm_store::{Cost, Result};

use self::sink::Sink;
use super::{
    ids::{Ids, Seen, Sorted, TopN},
    layout::damaged,
    plan::{self, Conditions, OrderSpec, Plan, SortStrategy, fields_len, plan},
    scan::{Documents, PlanEntries},
    schema::Collection,
    view::View,
    wait::{YieldBudget, yield_now},
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

impl<'q> Query<'q> {
    /// Plans the query of a collection.
    pub(super) fn plan<'s>(&self, view: View<'_>, collection: &'s Collection) -> Plan<'q, 's> {
        let conditions = Conditions::from_filters(self.filters);
        plan(view, collection, &conditions, &self.order())
    }

    /// Plans to find the documents by entries that have the values at these paths, if an index has them.
    pub(super) fn covering<'s>(
        &self,
        collection: &'s Collection,
        paths: &[&str],
    ) -> Option<Plan<'q, 's>> {
        let conditions = Conditions::from_filters(self.filters);
        plan::covering(collection, &conditions, &self.order(), paths)
    }

    /// Whether it finds all documents, apart from `skip` and `limit`.
    fn finds_all(&self) -> bool {
        let is_all = |filter: &&Filter| matches!(filter, Filter::And(all) if all.is_empty());
        self.after.is_none() && self.filters.iter().all(is_all)
    }

    fn order(&self) -> OrderSpec<'q> {
        OrderSpec::new(self.sort, self.after, self.limit.is_some())
    }
}

/// The resources of a running query.
pub(super) struct ExecContext<'r> {
    pub(super) budget: &'r mut YieldBudget,
    pub(super) cost: &'r mut Cost,
    /// The memory that ids and sort keys may take, in bytes.
    pub(super) memory: usize,
}

/// A function that receives the key of `_id`, and the document.
pub(super) type Emit<'e> =
    &'e mut (dyn FnMut(&[u8], &RawDocument) -> Result<ControlFlow<()>> + Send);

/// Passes the documents of a collection that a query finds to `emit`, in the order of the query.
pub(super) async fn find<'q>(
    view: View<'q>,
    collection: &'q Collection,
    query: &Query<'q>,
    context: &mut ExecContext<'_>,
    emit: Emit<'q>,
) -> Result<ControlFlow<()>> {
    let mut execution = match begin(view, collection, query, context, emit)? {
        Begun::Ended(flow) => return Ok(flow),
        Begun::Paused(execution) => execution,
    };
    loop {
        yield_now().await;
        if let Some(flow) = execution.run(context)? {
            return Ok(flow);
        }
    }
}

/// A query after its first step.
enum Begun<'q> {
    Ended(ControlFlow<()>),
    Paused(Box<Execution<'q>>),
}

#[inline(never)]
fn begin<'q>(
    view: View<'q>,
    collection: &'q Collection,
    query: &Query<'q>,
    context: &mut ExecContext<'_>,
    emit: Emit<'q>,
) -> Result<Begun<'q>> {
    if query.limit == Some(0) {
        return Ok(Begun::Ended(ControlFlow::Continue(())));
    }
    let plan = query.plan(view, collection);
    let mut execution = Execution::new(view, collection, query, plan, context.memory, emit)?;
    Ok(match execution.run(context)? {
        Some(flow) => Begun::Ended(flow),
        None => Begun::Paused(Box::new(execution)),
    })
}

/// The run of one plan: entries become documents, and documents that match go into the sink.
struct Execution<'q> {
    sink: Sink<'q>,
    documents: Documents<'q>,
    entries: PlanEntries<'q>,
    stage: Stage,
    is_scan: bool,
}

/// The stages of the run, with their state.
enum Stage {
    /// The entries are in the requested order.
    InOrder(Seen),
    /// The entries are in the requested order, except for `_id`.
    Runs(Runs),
    /// No index gives the requested order: the entries are sorted.
    Sort(TopN, Seen),
    /// The documents are passed in the order of their sort keys.
    Sorted(vec::IntoIter<Sorted>),
}

/// A run of entries that agree in the first fields, which is sorted by `_id`.
struct Runs {
    fields: usize,
    by_id: Direction,
    /// The bytes of the first fields.
    prefix: Vec<u8>,
    ids: Ids,
    /// How many of the ids were passed on, once the run is complete and sorted.
    passed: Option<usize>,
    /// The first entry of the next run, if there is one.
    next: Option<(Vec<u8>, Vec<u8>)>,
}

impl<'q> Execution<'q> {
    fn new(
        view: View<'q>,
        collection: &'q Collection,
        query: &Query<'q>,
        plan: Plan<'q, 'q>,
        memory: usize,
        emit: Emit<'q>,
    ) -> Result<Self> {
        let wanted = query.order();
        let order = plan.order(&wanted);
        let runs = |fields| {
            Stage::Runs(Runs {
                fields,
                by_id: wanted.id,
                prefix: Vec::new(),
                ids: Ids::default(),
                passed: None,
                next: None,
            })
        };
        Ok(Execution {
            sink: Sink::new(&collection.name, query, &plan, order, emit)?,
            documents: Documents::new(view, collection),
            stage: match order {
                SortStrategy::IndexOrder => Stage::InOrder(Seen::default()),
                SortStrategy::PartialSort { fields } => runs(fields),
                // All entries are one run.
                SortStrategy::SortById => runs(0),
                SortStrategy::FullSort => {
                    let count = query.limit.map(|limit| limit.saturating_add(query.skip));
                    Stage::Sort(TopN::new(count, memory), Seen::default())
                }
            },
            is_scan: plan.is_scan(),
            entries: plan.entries(view),
        })
    }

    /// Continues to the end of the query, or to the end of a chunk: then it returns `None`.
    fn run(&mut self, context: &mut ExecContext<'_>) -> Result<Option<ControlFlow<()>>> {
        let before = context.cost.documents_examined;
        let flow = match self.stage {
            Stage::InOrder(_) => self.in_order(context)?,
            Stage::Runs(_) => self.in_runs(context)?,
            Stage::Sort(..) | Stage::Sorted(_) => self.sorted(context)?,
        };
        if self.is_scan {
            context.cost.documents_scanned += context.cost.documents_examined - before;
        }
        Ok(flow.map(|flow| match self.sink.stopped_by_caller(flow) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }))
    }

    fn in_order(&mut self, context: &mut ExecContext<'_>) -> Result<Option<ControlFlow<()>>> {
        let Stage::InOrder(seen) = &mut self.stage else {
            return Ok(None);
        };
        while !context.budget.is_due()? {
            let Some(entry) = self.entries.next(context.cost)? else {
                return Ok(Some(ControlFlow::Continue(())));
            };
            if !entry.passes || entry.repeats && !seen.add(entry.id(), context.memory)? {
                continue;
            }
            if self.sink.passes_over() {
                continue;
            }
            let (sink, cost) = (&mut self.sink, &mut *context.cost);
            let flow = self
                .documents
                .with(&entry, |id, document| sink.offer(id, document, cost))?;
            if flow.is_break() {
                return Ok(Some(flow));
            }
        }
        Ok(None)
    }

    fn in_runs(&mut self, context: &mut ExecContext<'_>) -> Result<Option<ControlFlow<()>>> {
        let Stage::Runs(runs) = &mut self.stage else {
            return Ok(None);
        };
        while !context.budget.is_due()? {
            if let Some(passed) = &mut runs.passed {
                if let Some(id) = runs.ids.get(*passed) {
                    *passed += 1;
                    if self.sink.passes_over() {
                        continue;
                    }
                    let (sink, cost) = (&mut self.sink, &mut *context.cost);
                    let flow = self
                        .documents
                        .by_id(id, |id, document| sink.offer(id, document, cost))?;
                    if flow.is_break() {
                        return Ok(Some(flow));
                    }
                    continue;
                }
                let Some((prefix, id)) = runs.next.take() else {
                    return Ok(Some(ControlFlow::Continue(())));
                };
                runs.passed = None;
                runs.prefix = prefix;
                runs.ids.clear();
                runs.ids.push(&id, context.memory)?;
            }
            let entry = self.entries.next(context.cost)?;
            if let Some(entry) = &entry {
                if !entry.passes {
                    continue;
                }
                if !runs.ids.is_empty() && entry.ordered().starts_with(&runs.prefix) {
                    runs.ids.push(entry.id(), context.memory)?;
                    continue;
                }
                let len = fields_len(entry.source, entry.key, runs.fields)
                    .ok_or_else(|| damaged("an index entry cannot be read"))?;
                let prefix = entry.key[entry.order_start..len].to_vec();
                runs.next = Some((prefix, entry.id().to_vec()));
            }
            runs.ids.sort(runs.by_id);
            runs.passed = Some(0);
        }
        Ok(None)
    }

    fn sorted(&mut self, context: &mut ExecContext<'_>) -> Result<Option<ControlFlow<()>>> {
        if let Stage::Sort(top, seen) = &mut self.stage {
            loop {
                if context.budget.is_due()? {
                    return Ok(None);
                }
                let Some(entry) = self.entries.next(context.cost)? else {
                    break;
                };
                if !entry.passes || entry.repeats && !seen.add(entry.id(), context.memory)? {
                    continue;
                }
                let (sink, cost) = (&self.sink, &mut *context.cost);
                let _ = self.documents.with(&entry, |id, document| {
                    cost.documents_examined += 1;
                    if let Some(key) = sink.sort_key(document)? {
                        top.push(key, id)?;
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
            }
            self.sink.skip_comparisons();
            let sorted = std::mem::take(top).into_sorted();
            self.stage = Stage::Sorted(sorted.into_iter());
        }
        let Stage::Sorted(sorted) = &mut self.stage else {
            return Ok(None);
        };
        while !context.budget.is_due()? {
            let Some(next) = sorted.next() else {
                return Ok(Some(ControlFlow::Continue(())));
            };
            if self.sink.passes_over() {
                continue;
            }
            // The document was counted as examined when its key was made.
            let mut again = Cost::default();
            let sink = &mut self.sink;
            let flow = self.documents.by_id(&next.id, |id, document| {
                sink.offer(id, document, &mut again)
            })?;
            context.cost.documents_returned += again.documents_returned;
            if flow.is_break() {
                return Ok(Some(flow));
            }
        }
        Ok(None)
    }
}

/// Counts the documents of a collection that a query finds.
pub(super) async fn count(
    view: View<'_>,
    collection: &Collection,
    query: &Query<'_>,
    context: &mut ExecContext<'_>,
) -> Result<u64> {
    if query.finds_all()
        && let Some(count) = view.len(collection.tree)?
    {
        let count = count.saturating_sub(query.skip);
        return Ok(query.limit.map_or(count, |limit| limit.min(count)));
    }
    if let Some(mut entries) = counted_entries(view, collection, query) {
        let mut count = 0;
        let mut seen = Seen::default();
        let enough = query.limit.map(|limit| limit.saturating_add(query.skip));
        while Some(count) != enough
            && let Some(entry) = entries.next(context.cost)?
        {
            if entry.passes && (!entry.repeats || seen.add(entry.id(), context.memory)?) {
                count += 1;
            }
            if context.budget.is_due()? {
                yield_now().await;
            }
        }
        return Ok(count.saturating_sub(query.skip));
    }
    let mut count = 0;
    let emit: Emit<'_> = &mut |_, _| {
        count += 1;
        Ok(ControlFlow::Continue(()))
    };
    let _ = find(view, collection, query, context, emit).await?;
    Ok(count)
}

/// The entries that a query finds, if the entries that pass are exactly the entries of its documents.
fn counted_entries<'q>(
    view: View<'q>,
    collection: &'q Collection,
    query: &Query<'q>,
) -> Option<Box<PlanEntries<'q>>> {
    if query.after.is_some() {
        return None;
    }
    let mut plan = query.plan(view, collection);
    if plan.is_scan() && !plan.is_exact() {
        // A whole index is smaller than all documents.
        plan = query.covering(collection, &[])?;
    }
    // Boxed, so that the future of a count is small.
    plan.is_exact().then(|| Box::new(plan.entries(view)))
}
