//! Typed aggregates: the keys of groups, and the values computed for each group.

use std::{borrow::Cow, convert::Infallible, marker::PhantomData};

use bson::RawBson;
use odm_mql::{self as mql, group::DateUnit, path};
use odm_store::{Error, ErrorKind, Result};

use super::Sort;
use crate::model::{Addable, Date, Field, List, Ordered, Path, Returned, Root};

/// Implements `Debug` by some fields. It needs no `Debug` of the types that only guide the compiler.
macro_rules! impl_debug {
    ($($name:ident<$($param:ident),+>: $($field:ident),+;)+) => { $(
        impl<$($param),+> std::fmt::Debug for $name<$($param),+> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))$(.field(stringify!($field), &self.$field))+.finish()
            }
        }
    )+ };
}

impl_debug! {
    Accumulator<T, P>: operation;
    StartOf<V, P>: unit;
}

mod having;

pub(crate) use having::SortBy;
pub use having::{GroupSort, Having, SortsGroups};

/// The rows that a query groups: the documents of `M`, and after `unwind` the elements of type `T` of an array in them.
#[derive(Debug)]
pub struct Rows<M, T = Infallible>(PhantomData<fn() -> (M, T)>);

/// The types whose fields an aggregate can name: the type of the documents, and after `unwind` also the type of the elements.
#[diagnostic::on_unimplemented(
    message = "this is a field of `{Self}`, which is not among the `{S}` that are grouped",
    label = "not a field of what is grouped",
    note = "these are fields of the documents of the query, and after `.unwind(..)` also those of the elements"
)]
pub trait In<S, How> {
    #[doc(hidden)]
    const IS_ELEMENT: bool;
}

/// The field is in the documents.
#[derive(Debug)]
pub struct OfDocument;
/// The field is in the elements of the unwound array.
#[derive(Debug)]
pub struct OfElement;

impl<M, T> In<Rows<M, T>, OfDocument> for M {
    const IS_ELEMENT: bool = false;
}

impl<M, T> In<Rows<M, T>, OfElement> for T {
    const IS_ELEMENT: bool = true;
}

/// A path in the documents, or in the elements of the array that is unwound.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GroupedPath {
    is_element: bool,
    path: Cow<'static, str>,
    /// The field whose cold part it is in.
    pub(crate) part: Option<&'static str>,
}

impl GroupedPath {
    pub(crate) fn of<S, How, P: Path<Root: In<S, How>>>() -> GroupedPath {
        GroupedPath {
            is_element: P::Root::IS_ELEMENT,
            path: P::TEXT.into(),
            part: P::COLD.then(|| path::split(P::TEXT).0),
        }
    }

    /// The path in the documents.
    pub(crate) fn path(&self, unwind: Option<&'static str>) -> Cow<'static, str> {
        match unwind.filter(|_| self.is_element) {
            None => self.path.clone(),
            Some(array) if self.path.is_empty() => array.into(),
            Some(array) => format!("{array}.{}", self.path).into(),
        }
    }
}

/// A key of groups.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GroupKey {
    pub(crate) place: GroupedPath,
    start_of: Option<DateUnit>,
}

impl GroupKey {
    /// The key for values of type `V`.
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if documents of the model can lack the value, and `V` has no null.
    pub(crate) fn new<S, How, V, R, P>(start_of: Option<DateUnit>) -> Result<GroupKey>
    where
        V: Returned<R>,
        P: Path<Root: In<S, How>>,
    {
        if P::OPTIONAL && V::read(RawBson::Null).is_err() {
            let message = format!(
                "invalid key of groups: a document can lack `{}`; add `.optional()` to the field, by which the key \
                 is an `Option`",
                P::TEXT
            );
            return Err(Error::new(ErrorKind::InvalidQuery, message).at("", Some(P::TEXT), None));
        }
        Ok(GroupKey {
            place: GroupedPath::of::<S, How, P>(),
            start_of,
        })
    }

    pub(crate) fn lower(&self, unwind: Option<&'static str>) -> mql::group::GroupKey {
        mql::group::GroupKey {
            path: self.place.path(unwind),
            start_of: self.start_of,
        }
    }
}

/// A value computed for a group.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Computed {
    operation: AggregateFunction,
    /// `None` for a count.
    pub(crate) place: Option<GroupedPath>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum AggregateFunction {
    Count,
    Sum,
    Avg,
    Min,
    Max,
}

impl Computed {
    pub(crate) fn lower(&self, unwind: Option<&'static str>) -> mql::group::Accumulator {
        use mql::group::Accumulator::{Avg, Count, Max, Min, Sum};
        let path = self.place.as_ref().map(|place| place.path(unwind));
        let path = path.unwrap_or_default();
        match self.operation {
            AggregateFunction::Count => Count,
            AggregateFunction::Sum => Sum(path),
            AggregateFunction::Avg => Avg(path),
            AggregateFunction::Min => Min(path),
            AggregateFunction::Max => Max(path),
        }
    }

    /// Its name in messages.
    pub(crate) fn name(&self) -> String {
        let operation = format!("{:?}", self.operation).to_lowercase();
        let path = self.place.as_ref().map_or("", |place| &place.path);
        format!("{operation}({path})")
    }
}

/// The number of documents of a group, or of elements after `unwind`: a `u64`. See [`count`].
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::query::count;
///
/// let stars = Review::fields().stars;
/// let rows = shop.reviews.all().group_by(stars).select(count()).having(count().gt(1)).await?;
/// assert_eq!(rows, [(5, 2)]);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Count(());

/// Counts the documents of each group, or the elements after `unwind`.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::query::count;
///
/// let customers = shop.orders.all().group_by(Order::fields().customer).select(count()).sort(count().desc()).await?;
/// assert_eq!(customers, [("kate".to_owned(), 2), ("joe".to_owned(), 1)]);
/// # Ok(()) });
/// ```
pub fn count() -> Count {
    Count(())
}

impl Count {
    pub(crate) fn computed(self) -> Computed {
        Computed {
            operation: AggregateFunction::Count,
            place: None,
        }
    }
}

/// A sum, mean, minimum or maximum of a field over each group, of type `T`. See [`Field::sum`](Field::sum) and the similar methods.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let order = Order::fields();
/// let spent = shop.orders.all().group_by(order.customer).select((order.total.sum(), order.total.max()));
/// let rows: Vec<(String, (f64, Option<f64>))> = spent.await?;
/// assert_eq!(rows[1], ("kate".to_owned(), (176.0, Some(117.5))));
/// # Ok(()) });
/// ```
pub struct Accumulator<T, P> {
    operation: AggregateFunction,
    /// Converts a sum so that a `T` can be read from it.
    pub(crate) widen: fn(RawBson) -> RawBson,
    types: PhantomData<fn() -> (T, P)>,
}

impl<T, P> Clone for Accumulator<T, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, P> Copy for Accumulator<T, P> {}

impl<T, P: Path> Accumulator<T, P> {
    fn new(operation: AggregateFunction) -> Self {
        Accumulator {
            operation,
            widen: |value| value,
            types: PhantomData,
        }
    }

    pub(crate) fn computed<S, How>(self) -> Computed
    where
        P::Root: In<S, How>,
    {
        Computed {
            operation: self.operation,
            place: Some(GroupedPath::of::<S, How, P>()),
        }
    }
}

/// The start of a unit of time that a date is in, as a key of groups. See [`Field::start_of_day`](Field::start_of_day) and the similar
/// methods.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let order = Order::fields();
/// let days = shop.orders.all().group_by(order.placed.start_of_day()).select(order.total.sum()).await?;
/// assert_eq!(days[0], ("2026-03-01".parse()?, 176.0));
/// # Ok(()) });
/// ```
pub struct StartOf<V, P> {
    pub(crate) unit: DateUnit,
    types: PhantomData<fn() -> (V, P)>,
}

impl<V, P> Clone for StartOf<V, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V, P> Copy for StartOf<V, P> {}

/// Aggregates.
impl<V, P: Path, K> Field<V, P, K> {
    /// Sums up the numbers of each group. Without any the sum is 0.
    ///
    /// The sum of integers is an `i64`, computed exactly; if it needs more than 64 bits, the query fails. The sum of floats is an `f64`,
    /// with compensated rounding, and the sum of decimals a decimal.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let order = Order::fields();
    /// let spent = shop.orders.all().group_by(order.customer).select(order.total.sum()).await?;
    /// assert_eq!(spent[0], ("joe".to_owned(), 49.0));
    /// # Ok(()) });
    /// ```
    pub fn sum(self) -> Accumulator<V::Sum, P>
    where
        V: Addable,
    {
        Accumulator {
            widen: V::widen,
            ..Accumulator::new(AggregateFunction::Sum)
        }
    }

    /// Computes the mean of the numbers of each group; `None` without any. The mean of decimals is a decimal, of other numbers an `f64`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let review = Review::fields();
    /// let ratings = shop.reviews.all().group_by(review.product).select(review.stars.avg()).await?;
    /// assert_eq!(ratings[0], (Ref::new(1), Some(4.0)));
    /// # Ok(()) });
    /// ```
    pub fn avg(self) -> Accumulator<Option<V::Mean>, P>
    where
        V: Addable,
    {
        Accumulator::new(AggregateFunction::Avg)
    }

    /// Finds the least value of each group. Documents without the field, or with null, are ignored; `None` without
    /// any others.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let review = Review::fields();
    /// let first = shop.reviews.all().group_by(review.product).select(review.published.min()).await?;
    /// assert_eq!(first[0].1, Some("2026-03-01".parse()?));
    /// # Ok(()) });
    /// ```
    pub fn min(self) -> Accumulator<Option<V::Present>, P>
    where
        V: Ordered<Present: Sized>,
    {
        Accumulator::new(AggregateFunction::Min)
    }

    /// Finds the greatest value of each group; see [`min`](Field::min).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let order = Order::fields();
    /// let last = shop.orders.all().group_by(order.customer).select(order.placed.max()).await?;
    /// assert_eq!(last[1].1, Some("2026-03-01T12:30:00Z".parse()?));
    /// # Ok(()) });
    /// ```
    pub fn max(self) -> Accumulator<Option<V::Present>, P>
    where
        V: Ordered<Present: Sized>,
    {
        Accumulator::new(AggregateFunction::Max)
    }

    /// Groups by the full hour in UTC that the date is in.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let order = Order::fields();
    /// let hours = shop.orders.all().count_by(order.placed.start_of_hour()).await?;
    /// assert_eq!(hours[1], ("2026-03-01T12:00:00Z".parse()?, 1));
    /// # Ok(()) });
    /// ```
    pub fn start_of_hour(self) -> StartOf<V, P>
    where
        V: Date,
    {
        StartOf::new(DateUnit::Hour)
    }

    /// Groups by the day in UTC that the date is in: the key is its midnight.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let days = shop.orders.all().count_by(Order::fields().placed.start_of_day()).await?;
    /// assert_eq!(days, [("2026-03-01".parse()?, 2), ("2026-04-02".parse()?, 1)]);
    /// # Ok(()) });
    /// ```
    pub fn start_of_day(self) -> StartOf<V, P>
    where
        V: Date,
    {
        StartOf::new(DateUnit::Day)
    }

    /// Groups by the month in UTC that the date is in: the key is the midnight of its first day.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let order = Order::fields();
    /// let months = shop.orders.all().group_by(order.placed.start_of_month()).select(order.total.sum()).await?;
    /// assert_eq!(months, [("2026-03-01".parse()?, 176.0), ("2026-04-01".parse()?, 49.0)]);
    /// # Ok(()) });
    /// ```
    pub fn start_of_month(self) -> StartOf<V, P>
    where
        V: Date,
    {
        StartOf::new(DateUnit::Month)
    }

    /// Groups by the year in UTC that the date is in: the key is the midnight of its first day.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let years = shop.orders.all().count_by(Order::fields().placed.start_of_year()).await?;
    /// assert_eq!(years, [("2026-01-01".parse()?, 3)]);
    /// # Ok(()) });
    /// ```
    pub fn start_of_year(self) -> StartOf<V, P>
    where
        V: Date,
    {
        StartOf::new(DateUnit::Year)
    }

    /// The elements of the array, after `unwind`: `Product::fields().tags.element()`.
    ///
    /// The fields of embedded elements are reached through it, or through their own type: `Order::fields().lines.element().price` is
    /// `Line::fields().price`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let tag = Part::fields().tags.element();
    /// let tags: Vec<(String, u64)> = shop.parts.all().unwind(Part::fields().tags).count_by(tag).await?;
    /// assert_eq!(tags[1], ("steel".to_owned(), 2));
    /// # Ok(()) });
    /// ```
    pub fn element(self) -> Field<V::Item, Root<V::Item>>
    where
        V: List<Item: 'static>,
    {
        Field::NEW
    }
}

impl<V, P> StartOf<V, P> {
    fn new(unit: DateUnit) -> Self {
        StartOf {
            unit,
            types: PhantomData,
        }
    }
}
