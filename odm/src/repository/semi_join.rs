//! Semi-joins: conditions on the documents on the other side of a reference.
//!
//! The other side is read first, and its result becomes a plain filter of the query: both on one view. So a query with semi-joins is
//! sorted, counted and read in pages as any other.

use std::{borrow::Cow, collections::BTreeMap};

use bson::{RawBson, RawDocument};
use odm_mql::{self as mql, Test, key};
use odm_store::{Cost, Error, ErrorKind, Find, ReaderExt, Result};

use super::{Query, join::reference_path, query};
use crate::{
    catalog,
    model::{Document, Field, HotPath, Is, Joinable, Names},
    query::Filter,
    session::ReadView,
};

/// How many documents or references the other side of a semi-join has at most.
const MATCHES: usize = 100_000;

/// A condition on the documents on the other side of a reference.
#[derive(Debug, Clone)]
pub(super) struct SemiJoin {
    /// The documents of the other side.
    find: Find,
    /// The path in them of the values that count: their `_id`, or their reference.
    from: Cow<'static, str>,
    /// The path in the documents of the query that has one of these values.
    to: Cow<'static, str>,
}

/// A query before its semi-joins are resolved.
#[derive(Debug)]
pub(super) struct Unresolved {
    pub(super) find: Find,
    pub(super) semi_joins: Vec<SemiJoin>,
}

impl Unresolved {
    /// The query on a view.
    pub(super) async fn resolve(mut self, view: &ReadView<'_>, cost: &mut Cost) -> Result<Find> {
        self.find.filter = resolve(&self.semi_joins, self.find.filter, view, cost).await?;
        Ok(self.find)
    }
}

/// The filter with the semi-joins as they are on a view.
pub(super) async fn resolve(
    semi_joins: &[SemiJoin],
    mut filter: mql::Filter,
    view: &ReadView<'_>,
    cost: &mut Cost,
) -> Result<mql::Filter> {
    for semi_join in semi_joins {
        filter = filter.and(semi_join.on(view, cost).await?);
    }
    Ok(filter)
}

impl SemiJoin {
    fn new<C: Document>(
        filter: Filter<C>,
        from: Cow<'static, str>,
        to: Cow<'static, str>,
    ) -> Result<Self> {
        let mut find = query::<C>(filter.into_mql()?);
        find.projection = Some(mql::Projection::include([from.clone()])?);
        Ok(SemiJoin { find, from, to })
    }

    /// Its text, for the hash of a query.
    pub(super) fn text(&self) -> String {
        let filter = self.find.filter.to_document();
        format!(
            "{} {} {} {filter}",
            self.to, self.find.collection, self.from
        )
    }

    /// The filter of the documents of the query.
    async fn on(&self, view: &ReadView<'_>, cost: &mut Cost) -> Result<mql::Filter> {
        let mut values: BTreeMap<Vec<u8>, RawBson> = BTreeMap::new();
        let collect = |document: &RawDocument| {
            catalog::references(document, &self.from, |value| {
                values.entry(key::of(value)).or_insert_with(|| value.into());
            });
            match values.len() > MATCHES {
                true => Err(self.too_many()),
                false => Ok(()),
            }
        };
        let (_, reading) = view.find_with(&self.find, collect).await?;
        *cost += reading;
        let values: Vec<RawBson> = values.into_values().collect();
        Ok(mql::Filter::Path(self.to.clone(), Test::In(values.into())))
    }

    #[cold]
    fn too_many(&self) -> Error {
        let (other, from) = (&self.find.collection, &self.from);
        let message = format!(
            "semi-join: the documents of `{other}` that match have over {MATCHES} different `{from}`: give it a filter \
             that matches fewer"
        );
        Error::new(ErrorKind::Limit, message).at(other, Some(from), None)
    }
}

impl<M: Document, J, T> Query<M, J, T> {
    /// Keeps the documents that are referenced, in this field, by any document that matches a filter, such as the
    /// products that have a review of five stars.
    ///
    /// The referrers are found first, by an index that answers their filter, and then the documents of this query among the referenced
    /// ones. Both are read from one state of the data: also in a transaction, in a [snapshot](crate::Database::snapshot), and for each
    /// page. A second call adds a condition, which another referrer may fulfil.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let (product, review) = (Product::fields(), Review::fields());
    /// let loved = shop.products.all().any_referrer(review.product, review.stars.eq(5));
    /// let page = loved.sort(product.name.asc()).page(20).await?;
    /// assert_eq!((page.items[0].name.as_str(), page.items[1].name.as_str()), ("lamp", "shelf"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Limit`, when the query is awaited, if the documents that match reference more than 100,000 others.
    pub fn any_referrer<V, P, K>(self, _: Field<V, P, K>, filter: Filter<P::Root>) -> Self
    where
        V: Joinable<Target: Names<M>>,
        P: HotPath<Root: Document>,
    {
        let reference = reference_path::<V, P>();
        self.semi_join(SemiJoin::new(filter, reference, "_id".into()))
    }

    /// Keeps the documents whose referenced document, or one of them, matches a filter, such as the reviews whose
    /// product is a bolt: [`any_referrer`](Query::any_referrer) in the other direction.
    ///
    /// The referenced documents are found first, and then the documents of this query that reference them, by the index of the reference.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let of_lamps = shop.reviews.all().whose(Review::fields().product, Product::fields().name.eq("lamp"));
    /// assert_eq!(of_lamps.count().await?, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Limit`, when the query is awaited, if more than 100,000 documents match.
    pub fn whose<V, P, K>(self, _: Field<V, P, K>, filter: Filter<V::Target>) -> Self
    where
        V: Joinable,
        P: HotPath<Root: Is<M>>,
    {
        let reference = reference_path::<V, P>();
        self.semi_join(SemiJoin::new(filter, "_id".into(), reference))
    }
}
