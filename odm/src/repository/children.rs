//! The children of a parent.

use std::future::IntoFuture;

use super::{Deferred, Find};
use crate::{error::Result, model::Document};

/// How many children of one kind a parent may have.
pub trait Cardinality {
    /// What [`Repository::of`](super::Repository::of) returns.
    type Query<M: Document>;
    #[doc(hidden)]
    fn query<M: Document>(find: Find<M>) -> Self::Query<M>;
}

/// Any number: `#[reference(parent)]`.
pub struct Any;
/// None or one: `#[reference(parent, one)]`.
pub struct AtMostOne;

impl Cardinality for Any {
    type Query<M: Document> = Find<M>;

    fn query<M: Document>(find: Find<M>) -> Find<M> {
        find
    }
}

impl Cardinality for AtMostOne {
    type Query<M: Document> = OfParent<M>;

    fn query<M: Document>(find: Find<M>) -> OfParent<M> {
        OfParent(find)
    }
}

/// The only child of a parent, if there is one.
#[must_use = "a query does nothing until it is awaited"]
pub struct OfParent<M>(Find<M>);

impl<M: Document> IntoFuture for OfParent<M> {
    type Output = Result<Option<M>>;
    type IntoFuture = Deferred<Option<M>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.0.first())
    }
}
