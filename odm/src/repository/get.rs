//! Reads by `_id`.

use std::{future::IntoFuture, marker::PhantomData};

use bson::{RawBson, RawDocument};

use super::{Deferred, impl_debug, rows::decode};
use crate::{
    error::{Error, Result},
    model::{Cold, Document, Field, Is, Link, Path, Ref},
    session::Session,
    store::ReaderExt,
    trace::record_cost,
};

/// A read of one document by its `_id`, from [`Repository::get`](super::Repository::get).
#[must_use = "a query does nothing until it is awaited"]
pub struct Get<M> {
    session: Session,
    id: Result<RawBson>,
    load: Vec<&'static str>,
    model: PhantomData<fn() -> M>,
}

impl<M: Document> Get<M> {
    pub(super) fn new(session: Session, id: Result<RawBson>) -> Self {
        Get {
            session,
            id,
            load: Vec::new(),
            model: PhantomData,
        }
    }

    /// Loads a cold part of the document, by one more query.
    pub fn with<T, P: Path<Root: Is<M>>, K>(mut self, _: Field<Cold<T>, P, K>) -> Self {
        self.load.push(P::TEXT);
        self
    }

    /// Returns `None` if there is no such document.
    pub async fn optional(self) -> Result<Option<M>> {
        read(&self.session, &self.id?, &self.load).await
    }
}

impl_debug!(Get<M>: id, load);

impl<M: Document> IntoFuture for Get<M> {
    type Output = Result<M>;
    type IntoFuture = Deferred<M>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let id = self.id?;
            read(&self.session, &id, &self.load)
                .await?
                .ok_or_else(|| Error::not_found(M::COLLECTION, &[&id]))
        })
    }
}

async fn read<M: Document>(
    session: &Session,
    id: &RawBson,
    load: &[&'static str],
) -> Result<Option<M>> {
    let view = session.reader(M::COLLECTION, load).await?;
    let read = |document: &RawDocument| decode(M::COLLECTION, document);
    let (found, cost) = view.get_one_with(M::COLLECTION, id, read).await?;
    record_cost("get", M::COLLECTION, cost);
    Ok(found)
}

/// A read of documents by their `_id`s, from [`Repository::fetch`](super::Repository::fetch) or
/// [`Repository::get_many`](super::Repository::get_many).
#[must_use = "a query does nothing until it is awaited"]
pub struct Fetch<M> {
    session: Session,
    ids: Result<Vec<RawBson>>,
    load: Vec<&'static str>,
    model: PhantomData<fn() -> M>,
}

impl<M: Document> Fetch<M> {
    pub(super) fn new(session: Session, ids: Result<Vec<RawBson>>) -> Self {
        Fetch {
            session,
            ids,
            load: Vec::new(),
            model: PhantomData,
        }
    }

    /// Loads a cold part of each document, by one more query for all.
    pub fn with<T, P: Path<Root: Is<M>>, K>(mut self, _: Field<Cold<T>, P, K>) -> Self {
        self.load.push(P::TEXT);
        self
    }

    /// Returns `None` at the position of each document that does not exist.
    pub async fn optional(self) -> Result<Vec<Option<M>>> {
        read_many(&self.session, &self.ids?, &self.load).await
    }
}

impl_debug!(Fetch<M>: ids, load);

impl<M: Document> IntoFuture for Fetch<M> {
    type Output = Result<Vec<M>>;
    type IntoFuture = Deferred<Vec<M>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let ids = self.ids?;
            let found = read_many(&self.session, &ids, &self.load).await?;
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

async fn read_many<M: Document>(
    session: &Session,
    ids: &[RawBson],
    load: &[&'static str],
) -> Result<Vec<Option<M>>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let view = session.reader(M::COLLECTION, load).await?;
    let read = |document: &RawDocument| decode(M::COLLECTION, document);
    let (found, cost) = view.get_with(M::COLLECTION, ids, read).await?;
    record_cost("fetch", M::COLLECTION, cost);
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
