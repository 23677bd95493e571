//! The children of a parent.

use std::{collections::HashMap, future::IntoFuture, ops::ControlFlow};

use bson::{RawBson, RawDocument};
use futures_core::future::BoxFuture;
use odm_mql::key;
use odm_store::{self as store, Error, ErrorKind, Result};
use serde::{Serialize, de::DeserializeOwned};

use super::{Query, rows::decode};
use crate::{
    maintain::{children_of, shown},
    model::{Document, to_raw},
    session::Session,
    trace::Operation,
};

/// The number of children of one kind that a parent may have.
pub trait ChildCardinality {
    /// The query that [`Repository::of`](super::Repository::of) returns.
    type Children<M: Document>;
    #[doc(hidden)]
    fn query<M: Document>(find: Query<M>) -> Self::Children<M>;
}

/// Any number of children: `#[reference(parent)]`.
#[derive(Debug)]
pub struct Any;
/// At most one child: `#[reference(parent, one)]`.
#[derive(Debug)]
pub struct AtMostOne;

impl ChildCardinality for Any {
    type Children<M: Document> = Query<M>;

    fn query<M: Document>(find: Query<M>) -> Query<M> {
        find
    }
}

impl ChildCardinality for AtMostOne {
    type Children<M: Document> = OfParent<M>;

    fn query<M: Document>(find: Query<M>) -> OfParent<M> {
        OfParent(find)
    }
}

/// A query of the only child of a parent. Awaiting it returns the child, if there is one.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let lamp = shop.products.get(2).await?;
/// assert!(shop.warranties.of(&lamp).await?.is_none());
/// # Ok(()) });
/// ```
#[must_use = "a query does nothing until it is awaited"]
pub struct OfParent<M>(Query<M>);

impl<M: Document> std::fmt::Debug for OfParent<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OfParent").field(&self.0).finish()
    }
}

impl<M: Document> IntoFuture for OfParent<M> {
    type Output = Result<Option<M>>;
    type IntoFuture = BoxFuture<'static, Result<Option<M>>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.0.first())
    }
}

/// Returns the query of the children of the parent with an `_id`, after the children that a subset shows.
///
/// A shown element need not identify its child, and may have changed since. So twice as many children as the subset can show are read in
/// its order. Children before the first that equals a seen element are newer. From there on children are skipped, as long as each equals a
/// seen element.
pub(super) async fn after_subset<P, T>(
    session: &Session,
    parent: RawBson,
    path: &str,
    seen: Vec<RawBson>,
) -> Result<store::Find>
where
    P: Document,
    T: Serialize + DeserializeOwned,
{
    let catalog = session.catalog();
    let mut subsets = catalog.subsets_in(P::COLLECTION);
    let subset = subsets.find(|subset| subset.path == path).ok_or_else(|| {
        let message = format!("`{}.{path}` is not a subset", P::COLLECTION);
        Error::new(ErrorKind::InvalidQuery, message)
    })?;
    let all = children_of(subset, parent);
    if seen.is_empty() {
        return Ok(all);
    }
    // The number of times that each element was seen.
    let mut unmet: HashMap<Vec<u8>, usize> = HashMap::new();
    for element in &seen {
        *unmet.entry(key::of(element.as_raw_bson_ref())).or_default() += 1;
    }
    let total = all.sort.total();
    let find = store::Find {
        limit: Some(2 * subset.limit.unsigned_abs()),
        ..all.clone()
    };
    let mut last: Option<Vec<RawBson>> = None;
    let operation = Operation::begin("after_subset", &subset.child);
    let view = session.reader(&subset.child, &[]).await?;
    let each = &mut |_, child: &RawDocument| {
        let read = view.as_read(&subset.child, child)?;
        let element: T = decode(&subset.child, &shown(subset, &read)?)?;
        let element = to_raw(&element)?;
        match unmet.get_mut(&key::of(element.as_raw_bson_ref())) {
            Some(times) if *times > 0 => {
                *times -= 1;
                last = Some(total.key(child));
                Ok(ControlFlow::Continue(()))
            }
            _ if last.is_none() => Ok(ControlFlow::Continue(())),
            _ => Ok(ControlFlow::Break(())),
        }
    };
    let cost = operation.observe(view.find(&find, each).await)?;
    session.record_query(operation, &view, &find, cost).await?;
    Ok(store::Find { after: last, ..all })
}
