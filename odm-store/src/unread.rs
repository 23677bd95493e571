//! Updates of documents that the caller has not read.

use bson::{DateTime, RawBson};
use odm_mql::{Filter, Test, Update};

use super::{CollectionWrites, Cost, DocumentWrite, Find, ReaderExt, Transaction};
use crate::error::{Error, Result};

/// An update of documents that the caller has not read.
#[derive(Debug, Clone, PartialEq)]
pub struct UnreadUpdate {
    /// The collection.
    pub collection: String,
    /// The `_id` of one document, or `None` for all documents that match.
    pub id: Option<RawBson>,
    /// The condition on a document under which the update has the effect that the caller means.
    pub filter: Filter,
    /// How the documents change: by operators that can be applied to every document that matches.
    pub update: Update,
}

impl UnreadUpdate {
    /// Returns the filter of the documents: `filter`, and the `_id` if there is one.
    pub fn whole_filter(&self) -> Filter {
        let by_id = |id: &RawBson| Filter::Path("_id".into(), Test::Eq(id.clone()));
        let by_id = self.id.as_ref().map(by_id).unwrap_or_default();
        by_id.and(self.filter.clone())
    }
}

/// [`Transaction::apply_with`] for a transaction that reads the documents first.
#[doc(hidden)]
pub async fn apply_after_reads<T: Transaction + ?Sized>(
    transaction: &mut T,
    batch: &[CollectionWrites<'_>],
    updates: &[UnreadUpdate],
) -> Result<(Cost, Vec<usize>)> {
    let now = DateTime::now();
    let mut cost = Cost::default();
    let mut unmatched = Vec::new();
    let mut changed = Vec::new();
    for (position, unread) in updates.iter().enumerate() {
        let find = Find {
            collection: unread.collection.clone(),
            filter: unread.whole_filter(),
            ..Find::default()
        };
        let (found, read) = transaction.find_all(&find).await?;
        cost += read;
        if found.is_empty() && unread.id.is_some() {
            unmatched.push(position);
        }
        for before in found {
            let after = unread.update.apply(&before, false, now);
            let after = after.map_err(|error| Error::of_update(&unread.collection, &before, error));
            if let Some(after) = after? {
                changed.push((&unread.collection, before, after));
            }
        }
    }
    let mut batch = batch.to_vec();
    for (collection, before, after) in &changed {
        let write = DocumentWrite::Replace { before, after };
        let mut all = batch.iter_mut();
        match all.find(|writes| writes.collection == *collection) {
            Some(writes) => writes.writes.push(write),
            None => batch.push(CollectionWrites {
                collection,
                writes: vec![write],
            }),
        }
    }
    cost += transaction.apply(&batch).await?;
    Ok((cost, unmatched))
}
