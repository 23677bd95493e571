//! Searches that see the queue.

use std::{
    collections::{BTreeSet, HashMap},
    ops::ControlFlow,
};

use bson::{RawBson, RawDocument};
use futures_core::future::BoxFuture;
use odm_mql::{Projection, key};
use odm_store::{Error, Find, FindByKey, ReaderExt, Result};

use super::{Doc, Image, Images, Unit, id};
use crate::{catalog::references, maintain::derived::EachByKey};

impl Unit<'_> {
    /// Runs a query on the store and the queue together: asks the store with the limit raised by the number of queued documents,
    /// removes these from its answer, and merges in the queued documents that match now.
    pub(in crate::maintain) fn search<'f>(
        &'f mut self,
        find: &'f Find,
    ) -> BoxFuture<'f, Result<Vec<Doc>>> {
        Box::pin(async move {
            debug_assert_eq!(find.skip, 0, "a unit skips nothing");
            let images = self.images(&find.collection);
            if !images.has_queue() {
                let (found, cost) = self.transaction.find_all(find).await?;
                self.cost += cost;
                return Ok(found.into_iter().map(Doc::new).collect());
            }
            let whole = Find {
                limit: raised(find.limit, images),
                // The order is computed from whole documents.
                projection: None,
                ..find.clone()
            };
            let (found, cost) = self.transaction.find_all(&whole).await?;
            self.cost += cost;
            let images = self.images(&find.collection);
            let found = found.into_iter().map(Doc::new);
            let found = found.filter(|document| !images.is_queued(document));
            let queued = queued(images, find)?;
            let found = merged(find, found.collect(), queued.into_iter());
            match &find.projection {
                None => Ok(found),
                Some(projection) => {
                    let found = found.iter();
                    found
                        .map(|document| Ok(Doc::new(projection.apply(document)?)))
                        .collect()
                }
            }
        })
    }

    /// Runs a query, and holds the documents that it finds. Returns their positions, in its order.
    pub(in crate::maintain) async fn search_images(&mut self, find: &Find) -> Result<Vec<usize>> {
        let found = self.search(find).await?;
        let images = self.images_mut(&find.collection);
        let positions = found.into_iter().map(|document| images.remember(document));
        Ok(positions.collect())
    }

    /// The `_id`s of the documents that a query finds, in its order.
    pub(in crate::maintain) async fn search_ids(&mut self, find: Find) -> Result<Vec<RawBson>> {
        let find = Find {
            projection: Some(Projection::include(["_id"])?),
            ..find
        };
        let found = self.search(&find).await?;
        let ids = found.iter().map(|document| id(document).into());
        Ok(ids.collect())
    }

    /// Runs one query for each of several keys of a field, in one call, on the store and the queue
    /// together. A projection of the query must keep `_id` and the fields of its sort; documents of
    /// the queue come whole.
    pub(in crate::maintain) async fn search_by_key(
        &mut self,
        find: &FindByKey,
    ) -> Result<Vec<Vec<Doc>>> {
        let mut found: Vec<Vec<Doc>> = vec![Vec::new(); find.keys.len()];
        if find.keys.is_empty() {
            return Ok(found);
        }
        self.exclude_keys(find);
        let images = self.images(&find.find.collection);
        let asked = FindByKey {
            find: Find {
                limit: raised(find.find.limit, images),
                ..find.find.clone()
            },
            ..find.clone()
        };
        self.stored_by_key(&asked, &mut |at, document| {
            found[at].push(Doc::new(document.to_owned()));
            Ok(())
        })
        .await?;
        let images = self.images(&find.find.collection);
        if images.has_queue() {
            let queued = queued_by_key(images, find)?;
            for (key, found) in find.keys.iter().zip(&mut found) {
                if let Some(queued) = queued.get(&key::of(key.as_raw_bson_ref())) {
                    *found = merged(&find.find, std::mem::take(found), queued.iter());
                }
            }
        }
        Ok(found)
    }

    /// Passes the documents of a query without a limit for each of several keys, in no order, on the store and the queue together. A
    /// projection of the query must keep `_id`; documents of the queue come whole.
    pub(in crate::maintain) async fn visit_by_key(
        &mut self,
        find: &FindByKey,
        each: EachByKey<'_>,
    ) -> Result<()> {
        self.exclude_keys(find);
        self.stored_by_key(find, each).await?;
        let images = self.images(&find.find.collection);
        if images.has_queue() {
            let queued = queued_by_key(images, find)?;
            for (at, key) in find.keys.iter().enumerate() {
                let of_key = queued.get(&key::of(key.as_raw_bson_ref()));
                for document in of_key.into_iter().flatten() {
                    each(at, document)?;
                }
            }
        }
        Ok(())
    }

    /// Passes the documents of the store that are not queued.
    async fn stored_by_key(&mut self, find: &FindByKey, each: EachByKey<'_>) -> Result<()> {
        let images = self.images(&find.find.collection);
        let each = &mut |at: usize, document: &RawDocument| {
            if !images.is_queued(document) {
                each(at, document)?;
            }
            Ok(ControlFlow::Continue(()))
        };
        let cost = self.transaction.find_by_key(find, each).await?;
        self.cost += cost;
        Ok(())
    }
}

/// For each key, the difference that the queue makes to the number of documents that a query finds in the store.
pub(super) fn corrections(images: &Images, find: &FindByKey) -> Result<Vec<i64>> {
    let keys = find.keys.iter().map(|key| key::of(key.as_raw_bson_ref()));
    let places: Vec<Vec<u8>> = keys.collect();
    let mut corrections = vec![0_i64; places.len()];
    let mut correct = |document: Option<&Doc>, by: i64| -> Result<()> {
        let Some(document) = document else {
            return Ok(());
        };
        let matches = find.find.filter.matches(document);
        let failed = |error| Error::failed_filter(&find.find.collection, id(document), error);
        if !matches.map_err(failed)? {
            return Ok(());
        }
        let mut found = BTreeSet::new();
        references(document, &find.path, |id| {
            found.insert(key::of(id));
        });
        for (place, correction) in places.iter().zip(&mut corrections) {
            if found.contains(place) {
                *correction = correction.saturating_add(by);
            }
        }
        Ok(())
    };
    for image in images.queued() {
        correct(image.stored(), -1)?;
        correct(image.now(), 1)?;
    }
    Ok(corrections)
}

/// The queued documents that match.
fn queued<'a>(images: &'a Images, find: &Find) -> Result<Vec<&'a Doc>> {
    let mut queued = Vec::new();
    for document in images.queued().filter_map(Image::now) {
        let matches = find.filter.matches(document);
        if matches.map_err(|error| Error::failed_filter(&find.collection, id(document), error))? {
            queued.push(document);
        }
    }
    Ok(queued)
}

/// The queued documents that a query finds for each key, from one walk through their references.
fn queued_by_key(images: &Images, find: &FindByKey) -> Result<HashMap<Vec<u8>, Vec<Doc>>> {
    let keys = find.keys.iter().map(|key| key::of(key.as_raw_bson_ref()));
    let mut queued: HashMap<Vec<u8>, Vec<Doc>> = keys.map(|key| (key, Vec::new())).collect();
    for document in self::queued(images, &find.find)? {
        references(document, &find.path, |id| {
            if let Some(of_key) = queued.get_mut(&key::of(id))
                && of_key
                    .last()
                    .is_none_or(|last| !Doc::ptr_eq(last, document))
            {
                of_key.push(document.clone());
            }
        });
    }
    Ok(queued)
}

/// A limit with room for the documents that the queue makes out of date.
fn raised(limit: Option<u64>, images: &Images) -> Option<u64> {
    limit.map(|limit| limit.saturating_add(images.number_of_queued() as u64))
}

/// Merges the documents that a query finds in the store, without the queued ones, and the matching documents of the queue.
fn merged<'d>(find: &Find, mut found: Vec<Doc>, queued: impl Iterator<Item = &'d Doc>) -> Vec<Doc> {
    let order = find.sort.total();
    let is_after = |document: &&Doc| {
        let after = find.after.as_ref();
        after.is_none_or(|after| order.compare_keys(&order.key(document), after).is_gt())
    };
    let before = found.len();
    found.extend(queued.filter(is_after).cloned());
    if found.len() > before {
        found.sort_by_cached_key(|document| order.encode_key(document));
    }
    if let Some(limit) = find.limit.and_then(|limit| usize::try_from(limit).ok()) {
        found.truncate(limit);
    }
    found
}
