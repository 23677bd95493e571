//! Joins against the direction of references.

use std::{fmt, ops::ControlFlow};

use async_trait::async_trait;
use bson::{RawBson, RawDocument};
use odm_store::{self as store, Cost, FindByKey, Result};

use super::{Join, Joins, reference_path};
use crate::{
    model::{Document, Field, HotPath, Joinable, Names, Path},
    query::{Filter, Sort},
    repository::rows::decode_in,
    session::ReadView,
};

impl<V, P: Path, K> Field<V, P, K> {
    /// Joins in the other direction: the documents that reference each parent in this field, at most [`limit`](Referrers::limit), in the
    /// order of [`sort`](Referrers::sort).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let newest = Review::fields().product.referrers().sort(Review::fields().published.desc()).limit(1);
    /// let rows: Vec<(Product, Vec<Review>)> = shop.products.all().join(newest).await?;
    /// assert_eq!(rows[0].1[0].text, "Good");
    /// assert!(rows[2].1.is_empty(), "nobody has reviewed the table");
    /// # Ok(()) });
    /// ```
    // The field need not be a reference here: a join checks that.
    pub fn referrers(self) -> Referrers<V, P, K> {
        let find = Ok(store::Find::default());
        Referrers {
            find,
            joins: (),
            field: self,
        }
    }
}

/// A join of the documents that reference each parent, from
/// [`Field::referrers`](crate::model::Field::referrers).
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let review = Review::fields();
/// let critical = review.product.referrers().filter(review.stars.lt(4)).sort(review.published.desc()).limit(3);
/// let rows: Vec<(Product, Vec<Review>)> = shop.products.all().join(critical).await?;
/// assert_eq!(rows[0].1[0].text, "Wobbles");
/// # Ok(()) });
/// ```
#[must_use = "a join does nothing until a query uses it"]
pub struct Referrers<V, P, K, J = ()> {
    find: Result<store::Find>,
    joins: J,
    field: Field<V, P, K>,
}

impl<V, P, K, J> fmt::Debug for Referrers<V, P, K, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Referrers")
            .field("find", &self.find)
            .finish_non_exhaustive()
    }
}

impl<V, P: Path, K, J> Referrers<V, P, K, J> {
    fn with(mut self, change: impl FnOnce(&mut store::Find)) -> Self {
        if let Ok(find) = &mut self.find {
            change(find);
        }
        self
    }

    /// Sets the sort order for each parent.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let best = Review::fields().product.referrers().sort(Review::fields().stars.desc());
    /// let (_, reviews) = shop.products.all().join(best).first().await?.unwrap();
    /// assert_eq!(reviews[0].text, "Solid");
    /// # Ok(()) });
    /// ```
    pub fn sort(mut self, sort: Sort<P::Root>) -> Self {
        self.find = self.find.and_then(|find| {
            Ok(store::Find {
                sort: sort.into_mql()?,
                ..find
            })
        });
        self
    }

    /// Returns at most this many for each parent.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let two = Review::fields().product.referrers().limit(2);
    /// let (_, reviews) = shop.products.all().join(two).first().await?.unwrap();
    /// assert_eq!(reviews.len(), 2); // of each product, which may have thousands
    /// # Ok(()) });
    /// ```
    pub fn limit(self, limit: u64) -> Self {
        self.with(|find| find.limit = Some(limit))
    }

    /// Skips this many, the first in the order, for each parent.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // What a "show more" of each product shows.
    /// let others = Review::fields().product.referrers().sort(Review::fields().stars.desc()).skip(2);
    /// let (_, reviews) = shop.products.all().join(others).first().await?.unwrap();
    /// assert_eq!(reviews[0].text, "Wobbles");
    /// # Ok(()) });
    /// ```
    pub fn skip(self, skip: u64) -> Self {
        self.with(|find| find.skip = skip)
    }

    /// Joins only documents that match the filter.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let review = Review::fields();
    /// let good = review.product.referrers().filter(review.stars.gte(4));
    /// let (_, reviews) = shop.products.all().join(good).first().await?.unwrap();
    /// assert_eq!(reviews.len(), 2);
    /// # Ok(()) });
    /// ```
    pub fn filter(mut self, filter: Filter<P::Root>) -> Self {
        self.find = self.find.and_then(|mut find| {
            find.filter = find.filter.and(filter.into_mql()?);
            Ok(find)
        });
        self
    }
}

impl<V, P: Path, K> Referrers<V, P, K> {
    /// Joins a reference of the joined documents.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // Of each part the products that need it, with the reviews that each of them has.
    /// let reviews = Review::fields().product.referrers();
    /// let products = Product::fields().parts.referrers().join(reviews);
    /// let (bolt, products) = shop.parts.all().join(products).first().await?.unwrap();
    /// assert_eq!((bolt.name.as_str(), products[0].0.name.as_str(), products[0].1.len()), ("bolt", "shelf", 3));
    /// # Ok(()) });
    /// ```
    pub fn join<J: Join<P::Root>>(self, join: J) -> Referrers<V, P, K, (J::With<J>,)> {
        Referrers {
            find: self.find,
            joins: (J::with(join),),
            field: self.field,
        }
    }
}

#[async_trait]
impl<M, V, P, K, J> Join<M> for Referrers<V, P, K, J>
where
    V: Joinable<Target: Names<M>>,
    P: HotPath<Root: Document>,
    K: 'static,
    J: Joins<P::Root>,
{
    type Out = Vec<J::Row>;
    type With<T> = V::With<P::With<<V::Target as Names<M>>::With<T>>>;

    fn with<T>(value: T) -> Self::With<T> {
        V::with(P::with(<V::Target as Names<M>>::with(value)))
    }

    fn keys(&self, document: &RawDocument) -> Vec<RawBson> {
        let id = document.get("_id").ok().flatten();
        vec![id.map_or(RawBson::Null, RawBson::from)]
    }

    async fn run(
        &self,
        view: &ReadView<'_>,
        rows: Vec<Vec<RawBson>>,
        cost: &mut Cost,
    ) -> Result<Vec<Self::Out>> {
        let mut out: Vec<Self::Out> = std::iter::repeat_with(Vec::new).take(rows.len()).collect();
        if rows.is_empty() {
            return Ok(out);
        }
        let collection = <P::Root as Document>::COLLECTION;
        let find = FindByKey {
            find: store::Find {
                collection: collection.to_owned(),
                ..self.find.clone()?
            },
            path: reference_path::<V, P>().into_owned(),
            // A document has one `_id`, so keys and rows correspond.
            keys: rows.into_iter().flatten().collect(),
        };
        let mut found = Vec::new();
        let mut parents = Vec::new();
        *cost += view
            .find_by_key(&find, &mut |parent, document| {
                parents.push(parent);
                let row = decode_in(view, collection, document)?;
                found.push((row, self.joins.keys(document)));
                Ok(ControlFlow::Continue(()))
            })
            .await?;
        let joined = self.joins.run(view, found, cost).await?;
        for (parent, row) in parents.into_iter().zip(joined) {
            out[parent].push(row);
        }
        Ok(out)
    }
}
