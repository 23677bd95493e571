//! The children of a parent.

use std::{future::IntoFuture, ops::ControlFlow};

use bson::{RawBson, RawDocument};
use serde::{Serialize, de::DeserializeOwned};

use super::{Deferred, Find, rows::decode};
use crate::{
    error::{Error, ErrorKind, Result},
    maintain::{children_in_order, shown},
    model::{Document, to_raw},
    session::Session,
    store,
    trace::record_cost,
};

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

/// The children that follow after those that a subset shows.
///
/// A shown element need not say which child it is, and may have changed since. So the children that
/// the subset could show by now are read in its order, and as many more. Those before the first that
/// is as it was seen are newer; those that follow it, as long as each is as one that was seen, are the
/// ones that are passed over.
pub(super) async fn beyond<P, T>(
    session: &Session,
    parent: &P,
    path: &str,
    elements: &[T],
) -> Result<store::Find>
where
    P: Document,
    T: Serialize + DeserializeOwned,
{
    let catalog = session.catalog();
    let mut subsets = catalog.subsets_in(P::COLLECTION);
    let subset = subsets.find(|subset| subset.path == path).ok_or_else(|| {
        let message = format!("`{path}` of `{}` is no subset", P::COLLECTION);
        Error::new(ErrorKind::InvalidQuery, message)
    })?;
    let all = children_in_order(subset, &to_raw(parent.id())?);
    if elements.is_empty() {
        return Ok(all);
    }
    let mut seen = elements.iter().map(to_raw).collect::<Result<Vec<_>>>()?;
    if subset.limit < 0 {
        seen.reverse();
    }
    let total = all.sort.total();
    let find = store::Find {
        limit: Some(2 * subset.limit.unsigned_abs()),
        ..all.clone()
    };
    let mut last: Option<Vec<RawBson>> = None;
    let view = session.reader(&subset.child, &[]).await?;
    let each = &mut |_, child: &RawDocument| {
        let element: T = decode(&subset.child, &shown(subset, child)?)?;
        let element = to_raw(&element)?;
        match seen.iter().position(|other| *other == element) {
            Some(place) => {
                seen.remove(place);
                last = Some(total.key(child));
                Ok(ControlFlow::Continue(()))
            }
            None if last.is_none() => Ok(ControlFlow::Continue(())),
            None => Ok(ControlFlow::Break(())),
        }
    };
    let cost = view.find(&find, each).await?;
    record_cost("beyond", &subset.child, cost);
    Ok(store::Find { after: last, ..all })
}
