//! Reads by `_id`, which are answered from the images where the unit holds them.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use bson::RawBson;
use futures_core::future::BoxFuture;
use odm_mql::key;
use odm_store::{FindByKey, ReaderExt, Result};

use super::{
    super::derived::{EachByKey, Inputs},
    Doc, Unit, id,
    search::corrections,
};

impl Unit<'_> {
    /// Reads the documents that the unit does not hold yet, in one call. Returns the position of each distinct `_id`, even if no
    /// document has it.
    pub(in crate::maintain) fn load<'f>(
        &'f mut self,
        collection: &'f str,
        ids: &'f [RawBson],
    ) -> BoxFuture<'f, Result<Vec<usize>>> {
        Box::pin(async move {
            let keys: Vec<Vec<u8>> = ids.iter().map(|id| key::of(id.as_raw_bson_ref())).collect();
            let images = self.images(collection);
            let mut asked = HashSet::<_, ahash::RandomState>::default();
            let mut missing = Vec::new();
            for (id, key) in ids.iter().zip(&keys) {
                if images.position(key).is_none() && asked.insert(key) {
                    missing.push(id.clone());
                }
            }
            if !missing.is_empty() {
                let (found, cost) = self.transaction.get_all(collection, &missing).await?;
                self.cost += cost;
                let images = self.images_mut(collection);
                for document in found {
                    images.remember(Doc::new(document));
                }
            }
            let images = self.images_mut(collection);
            let mut seen = HashSet::<_, ahash::RandomState>::default();
            let positions = keys.into_iter().map(|key| images.position_or_absent(key));
            Ok(positions.filter(|at| seen.insert(*at)).collect())
        })
    }

    /// Reads documents, and returns the positions of the existing ones.
    pub(in crate::maintain) fn load_existing<'f>(
        &'f mut self,
        collection: &'f str,
        ids: &'f [RawBson],
    ) -> BoxFuture<'f, Result<Vec<usize>>> {
        Box::pin(async move {
            let mut positions = self.load(collection, ids).await?;
            let images = self.images(collection);
            positions.retain(|&at| images.at(at).now().is_some());
            Ok(positions)
        })
    }

    /// Returns for each `_id` whether a document has it, without reading documents into the unit.
    pub(in crate::maintain) async fn exist(
        &mut self,
        collection: &str,
        ids: &[RawBson],
    ) -> Result<Vec<bool>> {
        let images = self.images(collection);
        let mut exist = vec![false; ids.len()];
        let (mut unknown, mut places) = (Vec::new(), Vec::new());
        for (place, id) in ids.iter().enumerate() {
            match images.position(&key::of(id.as_raw_bson_ref())) {
                Some(at) => exist[place] = images.at(at).now().is_some(),
                None if self.unread.is_updated(collection, id) => exist[place] = true,
                None => {
                    unknown.push(id.clone());
                    places.push(place);
                }
            }
        }
        if !unknown.is_empty() {
            let (found, cost) = self.transaction.exist(collection, &unknown).await?;
            self.cost += cost;
            for (place, found) in places.into_iter().zip(found) {
                exist[place] = found;
            }
        }
        Ok(exist)
    }
}

#[async_trait]
impl Inputs for Unit<'_> {
    async fn get(&mut self, collection: &str, ids: Vec<RawBson>) -> Result<HashMap<Vec<u8>, Doc>> {
        let positions = self.load_existing(collection, &ids).await?;
        let images = self.images(collection);
        let found = positions.into_iter().filter_map(|at| {
            let document = images.at(at).now()?;
            Some((key::of(id(document)), document.clone()))
        });
        Ok(found.collect())
    }

    async fn find_by_key(&mut self, find: &FindByKey) -> Result<Vec<Vec<Doc>>> {
        self.search_by_key(find).await
    }

    async fn each_by_key(&mut self, find: &FindByKey, each: EachByKey<'_>) -> Result<()> {
        self.visit_by_key(find, each).await
    }

    async fn count_by_key(&mut self, find: &FindByKey) -> Result<Vec<u64>> {
        // After the flush the store counts all documents except the ones held back, which are added here.
        if self.images(&find.find.collection).has_queue() {
            self.flush().await?;
        }
        self.exclude_keys(find);
        let (mut numbers, cost) = self.transaction.count_by_key(find).await?;
        self.cost += cost;
        let images = self.images(&find.find.collection);
        if images.has_queue() {
            for (number, correction) in numbers.iter_mut().zip(corrections(images, find)?) {
                *number = number.saturating_add_signed(correction);
            }
        }
        Ok(numbers)
    }
}
