//! Reads of a state: scans, with the filters, sorts and projections of `mql`.

use std::{borrow::Cow, cmp::Ordering, ops::ControlFlow, sync::Arc};

use async_trait::async_trait;
use bson::{RawBson, RawDocumentBuf};
use odm_mql::{Filter, Test};
use odm_store::{Cost, Each, Error, ErrorKind, Explain, Find, FindByKey, Reader, Result};

use super::state::State;

/// The documents that a query returns, in order, before the projection.
fn select<'s>(
    state: &'s State,
    find: &Find,
    filters: &[&Filter],
    cost: &mut Cost,
) -> Result<Vec<&'s Arc<RawDocumentBuf>>> {
    let total = find.sort.total();
    if find
        .after
        .as_ref()
        .is_some_and(|after| after.len() != total.keys().len())
    {
        return Err(Error::new(
            ErrorKind::InvalidQuery,
            "position has another number of values than the order: take it from `Sort::key`",
        ));
    }
    let Some(collection) = state.collection(&find.collection) else {
        return Ok(Vec::new());
    };
    cost.documents_examined += collection.len();
    cost.documents_scanned += collection.len();
    let mut found = collection.matching(&find.collection, filters)?;
    if !find.sort.is_empty() {
        found.sort_by_cached_key(|document| total.encode_key(document));
    }
    if let Some(after) = &find.after {
        let is_after = |document: &RawDocumentBuf| {
            total.compare_keys(&total.key(document), after) == Ordering::Greater
        };
        found.retain(|document| is_after(document));
    }
    let skipped = found.into_iter().skip(count(find.skip));
    Ok(skipped.take(find.limit.map_or(usize::MAX, count)).collect())
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The documents that a query returns for each key.
fn select_by_key<'s>(
    state: &'s State,
    find: &FindByKey,
    cost: &mut Cost,
) -> Result<Vec<Vec<&'s Arc<RawDocumentBuf>>>> {
    if find.find.after.is_some() {
        return Err(Error::new(
            ErrorKind::InvalidQuery,
            "query by keys has a position: leave `after` empty, since each key has its own order",
        ));
    }
    let select_key = |key| {
        select(
            state,
            &find.find,
            &[&by_key(find, key), &find.find.filter],
            cost,
        )
    };
    find.keys.iter().map(select_key).collect()
}

/// The filter by one of the keys.
pub(super) fn by_key(find: &FindByKey, key: &RawBson) -> Filter {
    Filter::Path(Cow::Owned(find.path.clone()), Test::Eq(key.clone()))
}

/// Passes a document to the caller, with the requested fields.
fn pass(
    find: &Find,
    position: usize,
    document: &RawDocumentBuf,
    cost: &mut Cost,
    each: Each<'_>,
) -> Result<ControlFlow<()>> {
    cost.documents_returned += 1;
    match &find.projection {
        None => each(position, document),
        Some(projection) => each(position, &projection.apply_matched(&find.filter, document)?),
    }
}

fn one_request() -> Cost {
    Cost {
        queries: 1,
        ..Cost::default()
    }
}

#[async_trait]
impl Reader for State {
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
        let mut cost = one_request();
        let Some(collection) = self.collection(collection) else {
            return Ok(cost);
        };
        for (position, id) in ids.iter().enumerate() {
            let Some(document) = collection.get(id.as_raw_bson_ref()) else {
                continue;
            };
            cost.documents_examined += 1;
            cost.documents_returned += 1;
            if each(position, document)?.is_break() {
                break;
            }
        }
        Ok(cost)
    }

    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
        let mut cost = one_request();
        let found = select(self, find, &[&find.filter], &mut cost)?;
        for (position, document) in found.into_iter().enumerate() {
            if pass(find, position, document, &mut cost, each)?.is_break() {
                break;
            }
        }
        Ok(cost)
    }

    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        let mut cost = one_request();
        let found = select_by_key(self, find, &mut cost)?;
        for (position, documents) in found.into_iter().enumerate() {
            for document in documents {
                if pass(&find.find, position, document, &mut cost, each)?.is_break() {
                    return Ok(cost);
                }
            }
        }
        Ok(cost)
    }

    async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
        let mut cost = one_request();
        let found = select(self, find, &[&find.filter], &mut cost)?;
        Ok((found.len() as u64, cost))
    }

    async fn count_by_key(&self, find: &FindByKey) -> Result<(Vec<u64>, Cost)> {
        let mut cost = one_request();
        let found = select_by_key(self, find, &mut cost)?;
        let counts = found.iter().map(|documents| documents.len() as u64);
        Ok((counts.collect(), cost))
    }

    async fn explain(&self, find: &Find) -> Result<Explain> {
        let mut explain = Explain::default();
        explain.cost = self
            .find(find, &mut |_, _| Ok(ControlFlow::Continue(())))
            .await?;
        Ok(explain)
    }

    async fn index_of(&self, _find: &Find) -> Result<Option<String>> {
        Ok(None)
    }

    async fn default_collation(&self, collection: &str) -> Result<Option<odm_mql::Collation>> {
        let collection = self.collection(collection);
        Ok(collection.and_then(|collection| collection.collation.clone()))
    }
}
