//! Reads by `_id`.

use std::{future::IntoFuture, marker::PhantomData};

use bson::{RawBson, RawDocument, RawDocumentBuf};
use futures_core::future::BoxFuture;
use odm_store::{Error, ReaderExt, Result};
use serde::de::DeserializeOwned;

use super::{impl_debug, rows::decode_in};
use crate::{
    model::{Cold, Document, Field, Is, Link, Path, Ref},
    session::Session,
    trace::Operation,
};

/// A read of one document by its `_id`, from [`Repository::get`](super::Repository::get). `T` is the type that
/// it is read as.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let bolt: Part = shop.parts.get(1).await?;
/// let none: Option<Part> = shop.parts.get(99).optional().await?;
/// assert!(none.is_none());
/// # Ok(()) });
/// ```
#[must_use = "a query does nothing until it is awaited"]
pub struct Get<M, T = M> {
    session: Session,
    id: Result<RawBson>,
    load: Vec<&'static str>,
    types: PhantomData<fn() -> (M, T)>,
}

impl<M: Document> Get<M> {
    pub(super) fn new(session: Session, id: Result<RawBson>) -> Self {
        Get {
            session,
            id,
            load: Vec::new(),
            types: PhantomData,
        }
    }

    /// Loads a cold part of the document, by one more query.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let shelf = shop.products.get(1).with(Product::fields().manual).await?;
    /// assert_eq!(shelf.manual.get().unwrap().text, "How to use the shelf.");
    /// # Ok(()) });
    /// ```
    pub fn with<T, P: Path<Root: Is<M>>, K>(mut self, _: Field<Cold<T>, P, K>) -> Self {
        self.load.push(P::TEXT);
        self
    }

    /// Reads the document as it is, without its type, for instance to correct an unreadable one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let bolt = shop.parts.get(1).raw().await?;
    /// assert_eq!(bolt.get_f64("price").unwrap(), 0.1);
    /// # Ok(()) });
    /// ```
    pub fn raw(self) -> Get<M, RawDocumentBuf> {
        Get {
            session: self.session,
            id: self.id,
            load: self.load,
            types: PhantomData,
        }
    }
}

impl<M: Document, T: DeserializeOwned + Send + 'static> Get<M, T> {
    /// Returns `None` if there is no such document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part = shop.parts.get(99).optional().await?;
    /// assert_eq!(part.map_or(0, |part| part.qty), 0);
    /// # Ok(()) });
    /// ```
    pub async fn optional(self) -> Result<Option<T>> {
        read::<M, T>(&self.session, &self.id?, &self.load).await
    }
}

impl_debug!(Get<M, T>: id, load);

impl<M: Document, T: DeserializeOwned + Send + 'static> IntoFuture for Get<M, T> {
    type Output = Result<T>;
    type IntoFuture = BoxFuture<'static, Result<T>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let id = self.id?;
            read::<M, T>(&self.session, &id, &self.load)
                .await?
                .ok_or_else(|| Error::not_found(M::COLLECTION, &[&id]))
        })
    }
}

async fn read<M: Document, T: DeserializeOwned + Send>(
    session: &Session,
    id: &RawBson,
    load: &[&'static str],
) -> Result<Option<T>> {
    let operation = Operation::begin("get", M::COLLECTION);
    let view = session.reader(M::COLLECTION, load).await?;
    let read = |document: &RawDocument| decode_in(&view, M::COLLECTION, document);
    let found = view.get_one_with(M::COLLECTION, id, read).await;
    let (found, cost) = operation.observe(found)?;
    session.record(operation, cost);
    Ok(found)
}

/// A read of documents by their `_id`s, from [`Repository::fetch`](super::Repository::fetch) or
/// [`Repository::get_many`](super::Repository::get_many). `T` is the type that they are read as.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let order = shop.orders.get(1).await?;
/// let products: Vec<Product> = shop.products.fetch(&order.lines).await?;
/// assert_eq!(products.len(), 2);
/// # Ok(()) });
/// ```
#[must_use = "a query does nothing until it is awaited"]
pub struct Fetch<M, T = M> {
    session: Session,
    ids: Result<Vec<RawBson>>,
    load: Vec<&'static str>,
    types: PhantomData<fn() -> (M, T)>,
}

impl<M: Document> Fetch<M> {
    pub(super) fn new(session: Session, ids: Result<Vec<RawBson>>) -> Self {
        Fetch {
            session,
            ids,
            load: Vec::new(),
            types: PhantomData,
        }
    }

    /// Loads a cold part of each document, by one more query for all.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let products = shop.products.get_many([1, 2]).with(Product::fields().manual).await?;
    /// assert!(products.iter().all(|product| product.manual.is_loaded()));
    /// # Ok(()) });
    /// ```
    pub fn with<T, P: Path<Root: Is<M>>, K>(mut self, _: Field<Cold<T>, P, K>) -> Self {
        self.load.push(P::TEXT);
        self
    }

    /// Reads the documents as they are, without their type.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let parts = shop.parts.get_many([1, 2]).raw().await?;
    /// assert_eq!(parts[1].get_str("note").unwrap(), "M4");
    /// # Ok(()) });
    /// ```
    pub fn raw(self) -> Fetch<M, RawDocumentBuf> {
        Fetch {
            session: self.session,
            ids: self.ids,
            load: self.load,
            types: PhantomData,
        }
    }
}

impl<M: Document, T: DeserializeOwned + Send + 'static> Fetch<M, T> {
    /// Returns `None` at the position of each document that does not exist.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let found = shop.parts.get_many([1, 99]).optional().await?;
    /// assert!(found[0].is_some() && found[1].is_none());
    /// # Ok(()) });
    /// ```
    pub async fn optional(self) -> Result<Vec<Option<T>>> {
        read_many::<M, T>(&self.session, &self.ids?, &self.load).await
    }
}

impl_debug!(Fetch<M, T>: ids, load);

impl<M: Document, T: DeserializeOwned + Send + 'static> IntoFuture for Fetch<M, T> {
    type Output = Result<Vec<T>>;
    type IntoFuture = BoxFuture<'static, Result<Vec<T>>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let ids = self.ids?;
            let found = read_many::<M, T>(&self.session, &ids, &self.load).await?;
            if found.iter().all(Option::is_some) {
                return Ok(found.into_iter().flatten().collect());
            }
            let absent: Vec<_> = ids
                .iter()
                .zip(&found)
                .filter(|(_, found)| found.is_none())
                .map(|(id, _)| id)
                .collect();
            Err(Error::not_found(M::COLLECTION, &absent))
        })
    }
}

async fn read_many<M: Document, T: DeserializeOwned + Send>(
    session: &Session,
    ids: &[RawBson],
    load: &[&'static str],
) -> Result<Vec<Option<T>>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let operation = Operation::begin("fetch", M::COLLECTION).of(ids.len());
    let view = session.reader(M::COLLECTION, load).await?;
    let read = |document: &RawDocument| decode_in(&view, M::COLLECTION, document);
    let found = view.get_with(M::COLLECTION, ids, read).await;
    let (found, cost) = operation.observe(found)?;
    session.record(operation, cost);
    Ok(found)
}

/// References to documents: one or many, bare or in embedded links.
#[diagnostic::on_unimplemented(
    message = "`{Self}` holds no references that can be fetched",
    label = "neither a reference, nor a link, nor an `Option` or a list of these"
)]
pub trait Refs {
    /// The referenced document.
    type Target: Document;
    /// Returns the references, in order.
    fn refs(&self) -> Vec<&Ref<Self::Target>>;
}

impl<L: Link> Refs for L {
    type Target = L::Target;

    fn refs(&self) -> Vec<&Ref<L::Target>> {
        vec![self.target()]
    }
}

impl<L: Link> Refs for [L] {
    type Target = L::Target;

    fn refs(&self) -> Vec<&Ref<L::Target>> {
        self.iter().map(Link::target).collect()
    }
}

impl<L: Link> Refs for Vec<L> {
    type Target = L::Target;

    fn refs(&self) -> Vec<&Ref<L::Target>> {
        self.as_slice().refs()
    }
}

impl<L: Link> Refs for Option<L> {
    type Target = L::Target;

    fn refs(&self) -> Vec<&Ref<L::Target>> {
        self.as_slice().refs()
    }
}
