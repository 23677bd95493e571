//! Reads whose results are collected.

use std::ops::ControlFlow;

use async_trait::async_trait;
use bson::{RawBson, RawDocument, RawDocumentBuf};

use super::{Cost, Find, FindByKey, Reader};
use crate::error::Result;

/// The reads of a [`Reader`] without callbacks.
#[async_trait]
pub(crate) trait ReaderExt: Reader {
    /// Returns the document with an `_id`.
    async fn get_one(
        &self,
        collection: &str,
        id: &RawBson,
    ) -> Result<(Option<RawDocumentBuf>, Cost)> {
        let ids = std::slice::from_ref(id);
        let (documents, cost) = self.get_all(collection, ids).await?;
        Ok((documents.into_iter().next(), cost))
    }

    /// Returns those documents with these `_id`s that exist, in the order of the store.
    async fn get_all(
        &self,
        collection: &str,
        ids: &[RawBson],
    ) -> Result<(Vec<RawDocumentBuf>, Cost)> {
        let mut documents = Vec::with_capacity(ids.len());
        let each = &mut |_, document: &RawDocument| {
            documents.push(document.to_owned());
            Ok(ControlFlow::Continue(()))
        };
        let cost = self.get(collection, ids, each).await?;
        Ok((documents, cost))
    }

    /// Tells of each `_id` whether a document has it.
    async fn exist(&self, collection: &str, ids: &[RawBson]) -> Result<(Vec<bool>, Cost)> {
        let mut exist = vec![false; ids.len()];
        let each = &mut |position: usize, _: &RawDocument| {
            exist[position] = true;
            Ok(ControlFlow::Continue(()))
        };
        let cost = self.get(collection, ids, each).await?;
        Ok((exist, cost))
    }

    /// Returns the documents that a query finds, in its order.
    async fn find_all(&self, find: &Find) -> Result<(Vec<RawDocumentBuf>, Cost)> {
        let mut documents = Vec::new();
        let each = &mut |_, document: &RawDocument| {
            documents.push(document.to_owned());
            Ok(ControlFlow::Continue(()))
        };
        let cost = self.find(find, each).await?;
        Ok((documents, cost))
    }

    /// Returns for each of several keys the documents that a query finds, in its order.
    async fn find_all_by_key(&self, find: &FindByKey) -> Result<(Vec<Vec<RawDocumentBuf>>, Cost)> {
        let mut documents = vec![Vec::new(); find.keys.len()];
        let each = &mut |position: usize, document: &RawDocument| {
            documents[position].push(document.to_owned());
            Ok(ControlFlow::Continue(()))
        };
        let cost = match find.keys.is_empty() {
            true => Cost::default(),
            false => self.find_by_key(find, each).await?,
        };
        Ok((documents, cost))
    }
}

impl<R: Reader + ?Sized> ReaderExt for R {}
