//! What the reads of a step cost.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use bson::RawBson;

use super::{Cost, Each, Explain, Find, FindByKey, Reader};
use crate::error::Result;

/// A reader that adds up what its reads cost.
pub(crate) struct MeteredReader<'a> {
    reader: &'a dyn Reader,
    cost: Mutex<Cost>,
}

impl<'a> MeteredReader<'a> {
    pub(crate) fn new(reader: &'a dyn Reader) -> Self {
        MeteredReader {
            reader,
            cost: Mutex::default(),
        }
    }

    /// Returns the cost of all reads so far.
    pub(crate) fn cost(&self) -> Cost {
        *self.cost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, cost: Cost) {
        *self.cost.lock().unwrap_or_else(PoisonError::into_inner) += cost;
    }
}

#[async_trait]
impl Reader for MeteredReader<'_> {
    async fn get(&self, collection: &str, ids: &[RawBson], each: Each<'_>) -> Result<Cost> {
        let cost = self.reader.get(collection, ids, each).await;
        cost.inspect(|cost| self.add(*cost))
    }

    async fn find(&self, find: &Find, each: Each<'_>) -> Result<Cost> {
        let cost = self.reader.find(find, each).await;
        cost.inspect(|cost| self.add(*cost))
    }

    async fn find_by_key(&self, find: &FindByKey, each: Each<'_>) -> Result<Cost> {
        let cost = self.reader.find_by_key(find, each).await;
        cost.inspect(|cost| self.add(*cost))
    }

    async fn count(&self, find: &Find) -> Result<(u64, Cost)> {
        let count = self.reader.count(find).await;
        count.inspect(|(_, cost)| self.add(*cost))
    }

    async fn explain(&self, find: &Find) -> Result<Explain> {
        let explain = self.reader.explain(find).await;
        explain.inspect(|explain| self.add(explain.cost))
    }
}
