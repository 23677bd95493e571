//! Reads whose results are collected.

use std::ops::ControlFlow;

use bson::{RawBson, RawDocument, RawDocumentBuf};

use super::{Cost, Find, FindByKey, Reader};
use crate::error::Result;

/// The reads of a [`Reader`] without callbacks.
#[doc(hidden)]
pub trait ReaderExt: Reader {
    /// Returns the document with an `_id`.
    fn get_one(
        &self,
        collection: &str,
        id: &RawBson,
    ) -> impl Future<Output = Result<(Option<RawDocumentBuf>, Cost)>> + Send {
        self.get_one_with(collection, id, |document| Ok(document.to_owned()))
    }

    /// Returns the document with an `_id`, decoded by `read`.
    fn get_one_with<T: Send>(
        &self,
        collection: &str,
        id: &RawBson,
        mut read: impl FnMut(&RawDocument) -> Result<T> + Send,
    ) -> impl Future<Output = Result<(Option<T>, Cost)>> + Send {
        async move {
            let mut value = None;
            let each = &mut |_, document: &RawDocument| {
                value = Some(read(document)?);
                Ok(ControlFlow::Continue(()))
            };
            let ids = std::slice::from_ref(id);
            let cost = self.get(collection, ids, each).await?;
            Ok((value, cost))
        }
    }

    /// Returns the existing documents with these `_id`s, in the order of the store.
    fn get_all(
        &self,
        collection: &str,
        ids: &[RawBson],
    ) -> impl Future<Output = Result<(Vec<RawDocumentBuf>, Cost)>> + Send {
        async move {
            let mut documents = Vec::with_capacity(ids.len());
            let each = &mut |_, document: &RawDocument| {
                documents.push(document.to_owned());
                Ok(ControlFlow::Continue(()))
            };
            let cost = self.get(collection, ids, each).await?;
            Ok((documents, cost))
        }
    }

    /// Returns the documents with these `_id`s, decoded by `read`, at the positions of their `_id`s.
    fn get_with<T: Send>(
        &self,
        collection: &str,
        ids: &[RawBson],
        mut read: impl FnMut(&RawDocument) -> Result<T> + Send,
    ) -> impl Future<Output = Result<(Vec<Option<T>>, Cost)>> + Send {
        async move {
            let mut values: Vec<Option<T>> =
                std::iter::repeat_with(|| None).take(ids.len()).collect();
            let each = &mut |position: usize, document: &RawDocument| {
                values[position] = Some(read(document)?);
                Ok(ControlFlow::Continue(()))
            };
            let cost = self.get(collection, ids, each).await?;
            Ok((values, cost))
        }
    }

    /// Returns for each `_id` whether a document has it.
    fn exist(
        &self,
        collection: &str,
        ids: &[RawBson],
    ) -> impl Future<Output = Result<(Vec<bool>, Cost)>> + Send {
        async move {
            let (found, cost) = self.get_with(collection, ids, |_| Ok(())).await?;
            Ok((found.iter().map(Option::is_some).collect(), cost))
        }
    }

    /// Returns the documents that a query finds, in its order.
    fn find_all(
        &self,
        find: &Find,
    ) -> impl Future<Output = Result<(Vec<RawDocumentBuf>, Cost)>> + Send {
        self.find_with(find, |document| Ok(document.to_owned()))
    }

    /// Returns the documents that a query finds, decoded by `read`, in its order.
    fn find_with<T: Send>(
        &self,
        find: &Find,
        mut read: impl FnMut(&RawDocument) -> Result<T> + Send,
    ) -> impl Future<Output = Result<(Vec<T>, Cost)>> + Send {
        async move {
            let mut values = Vec::new();
            let each = &mut |_, document: &RawDocument| {
                values.push(read(document)?);
                Ok(ControlFlow::Continue(()))
            };
            let cost = self.find(find, each).await?;
            Ok((values, cost))
        }
    }

    /// Returns for each of several keys the documents that a query finds, in its order.
    fn find_all_by_key(
        &self,
        find: &FindByKey,
    ) -> impl Future<Output = Result<(Vec<Vec<RawDocumentBuf>>, Cost)>> + Send {
        async move {
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
}

impl<R: Reader + ?Sized> ReaderExt for R {}
