//! Groups of documents, and the aggregates of each group.

mod select;

use std::{fmt, future::IntoFuture, marker::PhantomData, ops::ControlFlow};

use self::select::RowValues;
pub use self::select::{Aggregates, ComputedOf, GroupKeys, KeysOf};
use futures_core::future::BoxFuture;
use odm_mql::{self as mql, Direction, Group, Sort, path};
use odm_store::{Aggregate, Cost, Each, Error, ErrorKind, Result};

use super::{Query, semi_join::Unresolved};
use crate::{
    model::{Addable, Document, Field, Is, List, Ordered, Path, Returned},
    query::group::{Computed, Having, In, Rows, SortBy, SortsGroups, count},
    session::Session,
    trace::Operation,
};

/// The query whose documents or elements are grouped.
struct Grouped {
    session: Session,
    query: Result<Unresolved>,
    /// The array that is unwound.
    unwind: Option<&'static str>,
    /// The fields whose cold parts are read.
    load: Vec<&'static str>,
}

impl fmt::Debug for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grouped")
            .field("query", &self.query)
            .field("unwind", &self.unwind)
            .finish_non_exhaustive()
    }
}

impl Grouped {
    fn load(&mut self, part: Option<&'static str>) {
        self.load
            .extend(part.filter(|part| !self.load.contains(part)));
    }
}

/// The elements of an array in the documents that a query finds. See [`Query::unwind`].
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let lines = shop.orders.all().unwind(Order::fields().lines);
/// let sold = lines.group_by(Line::fields().product).select(Line::fields().quantity.sum()).await?;
/// assert_eq!(sold, [(Ref::new(1), 3), (Ref::new(2), 4)]);
/// # Ok(()) });
/// ```
#[must_use = "a query does nothing until it is awaited"]
pub struct Unwound<M, T> {
    grouped: Grouped,
    types: PhantomData<fn() -> (M, T)>,
}

/// Groups without aggregates, which [`select`](GroupBy::select) adds.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::query::count;
///
/// let review = Review::fields();
/// let ratings = shop.reviews.all().group_by(review.product).select((count(), review.stars.avg())).await?;
/// assert_eq!(ratings[0], (Ref::new(1), (3, Some(4.0))));
/// # Ok(()) });
/// ```
#[must_use = "a query does nothing until it is awaited"]
pub struct GroupBy<S, V> {
    grouped: Grouped,
    keys: KeysOf<V>,
    rows: PhantomData<fn() -> S>,
}

/// Groups with their aggregates. Awaiting them returns a `Vec` of pairs: the key, or the tuple of the keys, and the aggregate, or the tuple
/// of the aggregates. They are in the order of their keys.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let spent = shop.orders.all().group_by(Order::fields().customer).select(Order::fields().total.sum());
/// let rows: Vec<(String, f64)> = spent.await?;
/// assert_eq!(rows.len(), 2);
/// # Ok(()) });
/// ```
#[must_use = "a query does nothing until it is awaited"]
pub struct Groups<S, V, A> {
    grouped: Grouped,
    keys: KeysOf<V>,
    computed: ComputedOf<A>,
    having: Vec<Having<S>>,
    sort: Result<Vec<(SortBy, Direction)>>,
    ignores_case: bool,
    skip: u64,
    limit: Option<u64>,
}

impl<M: Document> Query<M> {
    /// Takes each element of an array apart, so that sums, counts and groups apply to the elements. A document without elements counts in
    /// none.
    ///
    /// Fields of both the documents and the elements can be named; [`element`](Field::element) is the element of an array
    /// of scalars.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let (order, line) = (Order::fields(), Line::fields());
    /// // How many of each product were sold in March.
    /// let march = order.placed.lt("2026-04-01".parse::<DateTime>()?);
    /// let sold = shop.orders.find(march).unwind(order.lines).group_by(line.product).select(line.quantity.sum()).await?;
    /// assert_eq!(sold, [(Ref::new(1), 2), (Ref::new(2), 4)]);
    /// # Ok(()) });
    /// ```
    pub fn unwind<V, P, K>(self, _: Field<V, P, K>) -> Unwound<M, V::Item>
    where
        V: List<Item: 'static>,
        P: Path<Root: Is<M>>,
    {
        let mut grouped = self.grouped();
        grouped.unwind = Some(P::TEXT);
        grouped.load(P::COLD.then(|| path::split(P::TEXT).0));
        Unwound {
            grouped,
            types: PhantomData,
        }
    }

    fn grouped(self) -> Grouped {
        let (session, query) = self.into_parts();
        Grouped {
            session,
            query,
            unwind: None,
            load: Vec::new(),
        }
    }
}

impl<M: Document, T: 'static> Unwound<M, T> {
    /// Counts the elements.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.orders.all().unwind(Order::fields().lines).count().await?, 4);
    /// # Ok(()) });
    /// ```
    pub fn count(self) -> BoxFuture<'static, Result<u64>> {
        one::<Rows<M, T>, _, _>(self.grouped, count())
    }

    fn grouped(self) -> Grouped {
        self.grouped
    }
}

macro_rules! aggregates {
    ($(<$($type:ident)?> $query:ty, $rows:ty;)*) => { $(
        /// Aggregates, computed in the store in one pass, without decoding the documents.
        ///
        /// They include the documents that the query finds, within `skip` and `limit`. Like filters and sorts they read the stored values:
        /// a field with a default of serde that a document lacks counts as missing; a pending field has its empty value. On the embedded
        /// store the memory of groups is bounded by [`sort_memory`](odm_embedded::Builder::sort_memory).
        impl<M: Document $(, $type: 'static)?> $query {
            /// Groups the documents by a field, a unit of time of a date in UTC, or a tuple of up to four of these.
            ///
            /// A missing value is null, so the key of a field that documents can lack is an `Option`: by its type, or by
            /// [`optional`](Field::optional), without which the query is an error if an embedded value around the field can be missing.
            ///
            /// ```
            /// # use odm::derive::examples::*; example(async |shop| {
            /// use odm::query::count;
            ///
            /// let order = Order::fields();
            /// let days = shop.orders.find(order.total.gt(20.0))
            ///     .group_by((order.customer, order.placed.start_of_day()))
            ///     .select((count(), order.total.sum()))
            ///     .having(count().gte(2))
            ///     .sort(order.total.sum().desc())
            ///     .limit(10)
            ///     .await?;
            /// for ((customer, day), (orders, total)) in &days {
            ///     println!("{customer} on {day}: {orders} orders, {total}");
            /// }
            /// assert_eq!(days, [(("kate".to_owned(), "2026-03-01".parse()?), (2, 176.0))]);
            /// # Ok(()) });
            /// ```
            pub fn group_by<How, B: GroupKeys<$rows, How>>(
                self,
                keys: B,
            ) -> GroupBy<$rows, B::Values> {
                let mut grouped = self.grouped();
                let keys = keys.into_keys();
                for key in keys.keys.iter().flatten() {
                    grouped.load(key.place.part);
                }
                GroupBy {
                    grouped,
                    keys,
                    rows: PhantomData,
                }
            }

            /// Counts the documents for each value of a field, or for each other key of [`group_by`](Self::group_by). If the field has an
            /// index, the embedded store reads only the index and one document for each value.
            ///
            /// ```
            /// # use odm::derive::examples::*; example(async |shop| {
            /// let stars: Vec<(i32, u64)> = shop.reviews.all().count_by(Review::fields().stars).await?;
            /// assert_eq!(stars, [(3, 1), (4, 1), (5, 2)]);
            /// # Ok(()) });
            /// ```
            pub fn count_by<How, B: GroupKeys<$rows, How>>(
                self,
                keys: B,
            ) -> Groups<$rows, B::Values, u64> {
                self.group_by(keys).select(count())
            }

            /// Sums up the numbers in a field; see [`Field::sum`]. Without any the sum is 0.
            ///
            /// ```
            /// # use odm::derive::examples::*; example(async |shop| {
            /// let revenue = shop.orders.find(Order::fields().customer.eq("kate")).sum(Order::fields().total).await?;
            /// assert_eq!(revenue, 176.0);
            /// # Ok(()) });
            /// ```
            pub fn sum<V, P, K, How, R>(
                self,
                field: Field<V, P, K>,
            ) -> BoxFuture<'static, Result<<V::Sum as Returned<R>>::Value>>
            where
                V: Addable<Sum: Returned<R>>,
                P: Path<Root: In<$rows, How>>,
            {
                one::<$rows, _, _>(self.grouped(), field.sum())
            }

            /// Computes the mean of the numbers in a field; `None` without any. See [`Field::avg`].
            ///
            /// ```
            /// # use odm::derive::examples::*; example(async |shop| {
            /// let shelf = shop.reviews.find(Review::fields().product.eq(1));
            /// assert_eq!(shelf.avg(Review::fields().stars).await?, Some(4.0));
            /// # Ok(()) });
            /// ```
            pub fn avg<V, P, K, How, R>(
                self,
                field: Field<V, P, K>,
            ) -> BoxFuture<'static, Result<<Option<V::Mean> as Returned<R>>::Value>>
            where
                V: Addable,
                Option<V::Mean>: Returned<R>,
                P: Path<Root: In<$rows, How>>,
            {
                one::<$rows, _, _>(self.grouped(), field.avg())
            }

            /// Finds the least value of a field; `None` without any. See [`Field::min`].
            ///
            /// ```
            /// # use odm::derive::examples::*; example(async |shop| {
            /// let cheapest = shop.products.all().min(Product::fields().price.value).await?;
            /// assert_eq!(cheapest, Some(19.5));
            /// # Ok(()) });
            /// ```
            pub fn min<V, P, K, How, R>(
                self,
                field: Field<V, P, K>,
            ) -> BoxFuture<'static, Result<<Option<V::Present> as Returned<R>>::Value>>
            where
                V: Ordered<Present: Sized>,
                Option<V::Present>: Returned<R>,
                P: Path<Root: In<$rows, How>>,
            {
                one::<$rows, _, _>(self.grouped(), field.min())
            }

            /// Finds the greatest value of a field; `None` without any. See [`Field::max`].
            ///
            /// ```
            /// # use odm::derive::examples::*; example(async |shop| {
            /// let newest = shop.reviews.all().max(Review::fields().published).await?;
            /// assert_eq!(newest, Some("2026-03-09".parse()?));
            /// # Ok(()) });
            /// ```
            pub fn max<V, P, K, How, R>(
                self,
                field: Field<V, P, K>,
            ) -> BoxFuture<'static, Result<<Option<V::Present> as Returned<R>>::Value>>
            where
                V: Ordered<Present: Sized>,
                Option<V::Present>: Returned<R>,
                P: Path<Root: In<$rows, How>>,
            {
                one::<$rows, _, _>(self.grouped(), field.max())
            }
        }
    )* };
}
aggregates! {
    <> Query<M>, Rows<M>;
    <T> Unwound<M, T>, Rows<M, T>;
}

impl<M, T> fmt::Debug for Unwound<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Unwound").field(&self.grouped).finish()
    }
}

impl<S, V> fmt::Debug for GroupBy<S, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupBy")
            .field("grouped", &self.grouped)
            .field("keys", &self.keys)
            .finish()
    }
}

impl<S, V, A> fmt::Debug for Groups<S, V, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Groups")
            .field("grouped", &self.grouped)
            .field("keys", &self.keys)
            .field("computed", &self.computed)
            .field("having", &self.having)
            .field("sort", &self.sort)
            .finish_non_exhaustive()
    }
}

/// The aggregates of a single group of all documents or elements.
fn one<S, How, A: Aggregates<S, How>>(
    grouped: Grouped,
    aggregates: A,
) -> BoxFuture<'static, Result<A::Values>>
where
    S: 'static,
{
    let keys = KeysOf {
        keys: Ok(Vec::new()),
        read: Box::new(|_| Ok(())),
    };
    let group_by = GroupBy::<S, ()> {
        grouped,
        keys,
        rows: PhantomData,
    };
    let groups = group_by.select(aggregates);
    Box::pin(async move {
        let rows = groups.await?;
        let row = rows.into_iter().next();
        row.map(|((), values)| values).ok_or_else(|| {
            let message =
                "aggregate without a row: the store returned none for a group without keys";
            Error::new(ErrorKind::Corrupt, message)
        })
    })
}

impl<S, V> GroupBy<S, V> {
    /// Selects the aggregates of each group: [`count`], a field's `sum()`, `avg()`, `min()` or `max()`, or a tuple of up to six of these.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::query::count;
    ///
    /// let order = Order::fields();
    /// let customers = shop.orders.all().group_by(order.customer);
    /// let rows = customers.select((count(), order.total.sum(), order.placed.max())).await?;
    /// let (customer, (orders, total, last)) = &rows[1];
    /// assert_eq!((customer.as_str(), *orders, *total), ("kate", 2, 176.0));
    /// # Ok(()) });
    /// ```
    pub fn select<How, A: Aggregates<S, How>>(self, aggregates: A) -> Groups<S, V, A::Values> {
        Groups {
            grouped: self.grouped,
            keys: self.keys,
            computed: aggregates.into_computed(),
            having: Vec::new(),
            sort: Ok(Vec::new()),
            ignores_case: false,
            skip: 0,
            limit: None,
        }
    }
}

impl<S, V, A> Groups<S, V, A> {
    /// Keeps the groups whose aggregates match, selected or not. A second call adds a condition.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::query::count;
    ///
    /// let regulars = shop.orders.all().count_by(Order::fields().customer).having(count().gte(2)).await?;
    /// assert_eq!(regulars, [("kate".to_owned(), 2)]);
    /// # Ok(()) });
    /// ```
    pub fn having(mut self, having: Having<S>) -> Self {
        self.having.push(having);
        self
    }

    /// Sorts the groups by an aggregate, as `count().desc()`, or by a key, as `Order::fields().status.asc()`. A second call adds a
    /// tie-breaker.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::query::count;
    ///
    /// let customers = shop.orders.all().count_by(Order::fields().customer).sort(count().desc()).await?;
    /// assert_eq!(customers[0].0, "kate");
    /// # Ok(()) });
    /// ```
    pub fn sort<How>(mut self, sort: impl SortsGroups<S, How>) -> Self {
        let sort = sort.into_sort();
        self.sort = self.sort.and_then(|by| Ok([by, sort.by?].concat()));
        self.ignores_case |= sort.ignores_case;
        self
    }

    /// Skips this many groups.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::query::count;
    ///
    /// let second = shop.orders.all().count_by(Order::fields().customer).sort(count().desc()).skip(1).await?;
    /// assert_eq!(second, [("joe".to_owned(), 1)]);
    /// # Ok(()) });
    /// ```
    pub fn skip(mut self, skip: u64) -> Self {
        self.skip = skip;
        self
    }

    /// Returns at most this many groups.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // The product that is reviewed most.
    /// use odm::query::count;
    ///
    /// let most = shop.reviews.all().count_by(Review::fields().product).sort(count().desc()).limit(1).await?;
    /// assert_eq!(most, [(Ref::new(1), 3)]);
    /// # Ok(()) });
    /// ```
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    async fn run(mut self) -> Result<Vec<(V, A)>>
    where
        V: Send,
        A: Send,
    {
        let (keys, unwind) = (self.keys.keys?, self.grouped.unwind);
        let mut computed = self.computed.computed;
        let mut having = mql::Filter::default();
        let mut at = |wanted: Computed| {
            let found = computed.iter().position(|other| *other == wanted);
            found.unwrap_or_else(|| {
                computed.push(wanted);
                computed.len() - 1
            })
        };
        for filter in self.having {
            having = having.and(filter.lower(&mut at)?);
        }
        let having = having.within_depth()?;
        let mut sort = Sort::new();
        for (by, direction) in self.sort? {
            let path = match by {
                SortBy::Computed(wanted) => Group::value_path(at(wanted)),
                SortBy::Key(wanted) => {
                    let wanted = wanted.lower(unwind);
                    let found = keys.iter().position(|key| key.lower(unwind) == wanted);
                    Group::key_path(found.ok_or_else(|| no_key(&wanted.path))?)
                }
            };
            sort = sort.by(path, direction);
        }
        if self.ignores_case {
            sort = sort.ignoring_case();
        }
        for computed in &computed {
            let place = computed.place.as_ref();
            self.grouped.load(place.and_then(|place| place.part));
        }
        let Grouped {
            session,
            query,
            load,
            ..
        } = self.grouped;
        let query = query?;
        let collection = &query.find.collection.clone();
        let operation = Operation::begin("aggregate", collection);
        let view = session.reader(collection, &load).await?;
        let mut cost = Cost::default();
        let aggregate = Aggregate {
            find: operation.observe(query.resolve(&view, &mut cost).await)?,
            group: Group {
                unwind: unwind.map(Into::into),
                keys: keys.iter().map(|key| key.lower(unwind)).collect(),
                accumulators: computed.iter().map(|of| of.lower(unwind)).collect(),
            },
            having,
            sort,
            skip: self.skip,
            limit: self.limit,
        };
        let mut rows = Vec::new();
        let each: Each<'_> = &mut |_, row| {
            let keys = (self.keys.read)(&mut RowValues::keys_of(collection, row))?;
            let computed = (self.computed.read)(&mut RowValues::computed_of(collection, row))?;
            rows.push((keys, computed));
            Ok(ControlFlow::Continue(()))
        };
        cost += operation.observe(view.aggregate(&aggregate, each).await)?;
        session.record_aggregate(operation, &aggregate.find, cost);
        Ok(rows)
    }
}

#[cold]
fn no_key(path: &str) -> Error {
    let message = format!(
        "invalid sort of groups: `{path}` is no key of them; sort by a key of `group_by`, or by what is computed"
    );
    Error::new(ErrorKind::InvalidQuery, message).at("", Some(path), None)
}

impl<S: 'static, V: Send + 'static, A: Send + 'static> IntoFuture for Groups<S, V, A> {
    type Output = Result<Vec<(V, A)>>;
    type IntoFuture = BoxFuture<'static, Result<Vec<(V, A)>>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}
