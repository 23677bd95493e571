//! Runs the plan of a query.

use bson::{RawBson, RawDocument};
use std::ops::ControlFlow;

use super::{
    ids::{Ids, Seen, Top},
    layout::damaged,
    plan::{Conditions, Order, Plan, Wanted, fields_len, plan},
    scan::Documents,
    schema::Collection,
    view::View,
    wait::{Pace, yield_now},
};
use crate::{
    error::{Error, ErrorKind, Result},
    mql::{Filter, Sort, key},
    store::Cost,
};

/// What is looked for.
#[derive(Clone, Copy)]
pub(super) struct Query<'q> {
    /// All of them must match.
    pub(super) filters: &'q [&'q Filter],
    pub(super) sort: &'q Sort,
    pub(super) skip: u64,
    pub(super) limit: Option<u64>,
    pub(super) after: Option<&'q [RawBson]>,
}

/// What a run needs and changes.
pub(super) struct Run<'r> {
    pub(super) pace: &'r mut Pace,
    pub(super) cost: &'r mut Cost,
    /// How much memory the ids and sort keys may take.
    pub(super) memory: usize,
}

/// Receives the key of `_id`, and the document.
pub(super) type Emit<'e> =
    &'e mut (dyn FnMut(&[u8], &RawDocument) -> Result<ControlFlow<()>> + Send);

/// Hands over the documents of a collection that a query finds, in its order.
pub(super) async fn find(
    view: View<'_>,
    collection: &Collection,
    query: &Query<'_>,
    run: &mut Run<'_>,
    emit: Emit<'_>,
) -> Result<ControlFlow<()>> {
    let conditions = Conditions::of(query.filters);
    let wanted = Wanted::new(query.sort, query.after);
    let plan = plan(collection, &conditions, &wanted);
    execute(view, collection, query, &plan, run, emit).await
}

/// Hands over what a plan finds.
pub(super) async fn execute(
    view: View<'_>,
    collection: &Collection,
    query: &Query<'_>,
    plan: &Plan<'_, '_>,
    run: &mut Run<'_>,
    emit: Emit<'_>,
) -> Result<ControlFlow<()>> {
    if query.limit == Some(0) {
        return Ok(ControlFlow::Continue(()));
    }
    let wanted = Wanted::new(query.sort, query.after);
    let order = plan.order(&wanted);
    // Most queries compare nothing with the order.
    let total = match order {
        Order::Native | Order::Runs { .. } | Order::Ids if query.after.is_none() => Sort::new(),
        _ => query.sort.total(),
    };
    let after = match query.after {
        None => None,
        Some(after) if after.len() == total.keys().len() => Some(position(&total, after)),
        Some(_) => {
            return Err(Error::new(
                ErrorKind::InvalidQuery,
                "`after` needs a value for each key of the sort, and for `_id`",
            ));
        }
    };
    let mut sink = Sink {
        filters: if matches!(plan, Plan::One(way) if way.exact) {
            &[]
        } else {
            query.filters
        },
        total,
        after,
        skip: query.skip,
        left: query.limit,
        emit,
    };
    let mut documents = Documents::new(view, collection);
    let mut flow = ControlFlow::Continue(());
    match order {
        Order::Native => {
            let mut entries = plan.entries(view);
            let mut seen = Seen::default();
            while flow == ControlFlow::Continue(())
                && let Some(entry) = entries.next(run.cost)?
            {
                if run.pace.is_due() {
                    yield_now().await;
                }
                if entry.repeats && !seen.add(entry.id(), run.memory)? {
                    continue;
                }
                if sink.passes_over() {
                    continue;
                }
                flow = documents.with(&entry, |id, document| sink.offer(id, document, run.cost))?;
            }
        }
        Order::Runs { fields } => {
            let mut entries = plan.entries(view);
            let mut ids = Ids::default();
            let mut prefix: Vec<u8> = Vec::new();
            while flow == ControlFlow::Continue(()) {
                let entry = entries.next(run.cost)?;
                if run.pace.is_due() {
                    yield_now().await;
                }
                let begins = match &entry {
                    None => false,
                    Some(entry) => entry.key.starts_with(&prefix) && !ids.is_empty(),
                };
                if !begins {
                    // The entry, if there is one, is the first of the next run.
                    ids.sort(wanted.id);
                    for id in ids.iter() {
                        flow = documents.by_id(id, |id, doc| sink.offer(id, doc, run.cost))?;
                        if flow == ControlFlow::Break(()) {
                            break;
                        }
                        if run.pace.is_due() {
                            yield_now().await;
                        }
                    }
                    ids.clear();
                }
                let Some(entry) = entry else { break };
                if ids.is_empty() {
                    let len = fields_len(entries.source(), &entry.key, fields)
                        .ok_or_else(|| damaged("an index entry cannot be read"))?;
                    prefix.clear();
                    prefix.extend_from_slice(&entry.key[..len]);
                }
                ids.push(entry.id(), run.memory)?;
            }
        }
        Order::Ids => {
            let mut ids = Ids::default();
            let mut entries = plan.entries(view);
            while let Some(entry) = entries.next(run.cost)? {
                if run.pace.is_due() {
                    yield_now().await;
                }
                ids.push(entry.id(), run.memory)?;
            }
            ids.sort(wanted.id);
            for id in ids.iter() {
                if run.pace.is_due() {
                    yield_now().await;
                }
                if sink.passes_over() {
                    continue;
                }
                flow = documents.by_id(id, |id, document| sink.offer(id, document, run.cost))?;
                if flow == ControlFlow::Break(()) {
                    break;
                }
            }
        }
        Order::Sort => {
            let count = query.limit.map(|limit| limit.saturating_add(query.skip));
            let mut top = Top::new(count, run.memory);
            let mut entries = plan.entries(view);
            let mut seen = Seen::default();
            while let Some(entry) = entries.next(run.cost)? {
                if run.pace.is_due() {
                    yield_now().await;
                }
                if entry.repeats && !seen.add(entry.id(), run.memory)? {
                    continue;
                }
                let _ = documents.with(&entry, |id, document| {
                    run.cost.documents_examined += 1;
                    if let Some(key) = sink.sort_key(document) {
                        top.push(key, id)?;
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
            }
            // They have been compared with the filter and the position.
            sink.filters = &[];
            sink.after = None;
            for sorted in top.into_sorted() {
                if run.pace.is_due() {
                    yield_now().await;
                }
                if sink.passes_over() {
                    continue;
                }
                let mut again = Cost::default();
                flow = documents.by_id(&sorted.id, |id, doc| sink.offer(id, doc, &mut again))?;
                run.cost.documents_returned += again.documents_returned;
                if flow == ControlFlow::Break(()) {
                    break;
                }
            }
        }
    }
    Ok(if sink.stopped_by_caller(flow) {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    })
}

/// How many documents a plan finds, if that can be told without looking at them.
pub(super) async fn count_entries(
    view: View<'_>,
    query: &Query<'_>,
    plan: &Plan<'_, '_>,
    run: &mut Run<'_>,
) -> Result<Option<u64>> {
    let Plan::One(candidate) = plan else {
        return Ok(None);
    };
    if !candidate.exact || candidate.source.repeats() || query.after.is_some() {
        return Ok(None);
    }
    let mut entries = plan.entries(view);
    let mut count = 0;
    let enough = query.limit.map(|limit| limit.saturating_add(query.skip));
    while Some(count) != enough && entries.next(run.cost)?.is_some() {
        count += 1;
        if run.pace.is_due() {
            yield_now().await;
        }
    }
    Ok(Some(count.saturating_sub(query.skip)))
}

/// The key of a position in an order.
fn position(total: &Sort, after: &[RawBson]) -> Vec<u8> {
    let mut position = Vec::new();
    for ((_, direction), value) in total.keys().iter().zip(after) {
        key::encode_directed(value.as_raw_bson_ref(), *direction, &mut position);
    }
    position
}

/// The last step: what is found, in order, becomes what is handed over.
struct Sink<'e> {
    filters: &'e [&'e Filter],
    /// The whole order, where documents are compared by it.
    total: Sort,
    /// The position that documents must come after, until the first that does.
    after: Option<Vec<u8>>,
    skip: u64,
    left: Option<u64>,
    emit: Emit<'e>,
}

impl Sink<'_> {
    /// Whether the next document is passed over without a look at it.
    fn passes_over(&mut self) -> bool {
        let blind = self.skip > 0 && self.filters.is_empty() && self.after.is_none();
        if blind {
            self.skip -= 1;
        }
        blind
    }

    fn matches(&self, document: &RawDocument) -> bool {
        self.filters.iter().all(|filter| filter.matches(document))
    }

    /// The key of a document that is wanted.
    fn sort_key(&self, document: &RawDocument) -> Option<Vec<u8>> {
        if !self.matches(document) {
            return None;
        }
        let key = self.total.encode_key(document);
        let wanted = self.after.as_ref().is_none_or(|after| key > *after);
        wanted.then_some(key)
    }

    fn offer(
        &mut self,
        id: &[u8],
        document: &RawDocument,
        cost: &mut Cost,
    ) -> Result<ControlFlow<()>> {
        cost.documents_examined += 1;
        if !self.matches(document) {
            return Ok(ControlFlow::Continue(()));
        }
        if let Some(after) = &self.after {
            if self.total.encode_key(document) <= *after {
                return Ok(ControlFlow::Continue(()));
            }
            // Those that follow come after it as well.
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
            // Told apart from the limit.
            self.left = None;
        }
        Ok(flow)
    }

    fn stopped_by_caller(&self, flow: ControlFlow<()>) -> bool {
        flow == ControlFlow::Break(()) && self.left.is_none()
    }
}
