//! The reads of a serializable transaction, and whether their results are still true.

use std::{collections::BTreeSet, sync::Arc};

use bson::{RawBson, RawDocumentBuf};
use odm_mql::{Filter, key};
use odm_store::FindByKey;

use super::{
    read::by_key,
    state::{Key, State, matches_all},
};

/// The reads of a transaction. Only the filters of a query count, and not its order, its limit and its fields.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// Documents by collection and the key of `_id`, which need not exist.
    documents: BTreeSet<(String, Key)>,
    /// The collection of each query, and the filters that each document of its answer matches.
    queries: Vec<(String, Vec<Filter>)>,
}

impl Reads {
    pub(super) fn get(&mut self, collection: &str, ids: &[RawBson]) {
        let keys = ids.iter().map(|id| key::of(id.as_raw_bson_ref()));
        self.documents
            .extend(keys.map(|key| (collection.to_owned(), key)));
    }

    pub(super) fn find(&mut self, collection: &str, filter: &Filter) {
        let filters = vec![filter.clone()];
        self.queries.push((collection.to_owned(), filters));
    }

    pub(super) fn find_by_key(&mut self, find: &FindByKey) {
        let filters = |key| vec![by_key(find, key), find.find.filter.clone()];
        let queries = find.keys.iter();
        self.queries
            .extend(queries.map(|key| (find.find.collection.clone(), filters(key))));
    }

    /// Whether a read would find something else in a later state.
    pub(super) fn are_stale(&self, snapshot: &State, current: &State) -> bool {
        snapshot.differences(current).into_iter().any(|difference| {
            let is_of = |collection: &str| collection == difference.collection;
            let mut images = difference.images.into_iter().flatten();
            let mut documents = self.documents.iter();
            documents.any(|(collection, key)| is_of(collection) && key == difference.key)
                || images.any(|image| {
                    let mut queries = self.queries.iter();
                    queries.any(|(collection, filters)| is_of(collection) && finds(filters, image))
                })
        })
    }
}

fn finds(filters: &[Filter], image: &Arc<RawDocumentBuf>) -> bool {
    let filters: Vec<&Filter> = filters.iter().collect();
    // A query that now fails on a document would have another answer, too.
    matches_all("", image, &filters).unwrap_or(true)
}
