//! Filters and sorts of groups, by their aggregates.

use std::marker::PhantomData;

use odm_mql::{self as mql, Direction, Filter, Group, Test};
use odm_store::{Error, Result};
use serde::Serialize;

use super::{Accumulator, Computed, Count, GroupKey, GroupedPath, In, Sort, StartOf};
use crate::model::{IntoValue, Path, to_raw};

impl_debug! {
    Having<S>: node;
    GroupSort<S>: by;
}

/// A filter of groups by their aggregates. It is combined with others by `&`, `|` and `!`.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::query::count;
///
/// let order = Order::fields();
/// let spent = shop.orders.all().group_by(order.customer).select(order.total.sum());
/// let good = spent.having(count().gte(2) & order.total.sum().gt(100.0)).await?;
/// assert_eq!(good, [("kate".to_owned(), 176.0)]);
/// # Ok(()) });
/// ```
///
/// If it is nested deeper than 180 levels in MongoDB's form, the query fails when it runs, as a
/// [`Filter`](crate::query::Filter) of documents is. Many conditions on one level, as `a & b & c`, are one level.
#[must_use = "a filter does nothing until a query uses it"]
pub struct Having<S> {
    node: Result<Node>,
    /// How deep its form is nested at most, but for its values.
    nesting: usize,
    rows: PhantomData<fn() -> S>,
}

#[derive(Debug, Clone)]
enum Node {
    Test(Computed, Test),
    Joined(Connective, Vec<Node>),
    Not(Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Connective {
    And,
    Or,
}

impl Node {
    /// The filter of rows, in which `at` tells the position of a value.
    fn lower(self, at: &mut dyn FnMut(Computed) -> usize) -> Filter {
        match self {
            Node::Test(computed, test) => {
                Filter::Path(Group::value_path(at(computed)).into(), test)
            }
            Node::Joined(join, nodes) => {
                let filters = nodes.into_iter().map(|node| node.lower(at)).collect();
                match join {
                    Connective::And => Filter::And(filters),
                    Connective::Or => Filter::Or(filters),
                }
            }
            Node::Not(node) => Filter::Nor(vec![node.lower(at)]),
        }
    }
}

impl<S> Having<S> {
    fn test(computed: Computed, test: Result<Test>) -> Self {
        Having {
            node: test.map(|test| Node::Test(computed, test)),
            // A path, and the operator of the test.
            nesting: 2,
            rows: PhantomData,
        }
    }

    /// A filter that is made of others, with its greatest nesting depth.
    fn combined(node: Node, nesting: usize) -> Self {
        let is_too_deep = nesting > Filter::MAX_NESTING;
        Having {
            node: if is_too_deep {
                Err(mql::Error::TooDeep(Filter::MAX_NESTING).into())
            } else {
                Ok(node)
            },
            nesting,
            rows: PhantomData,
        }
    }

    fn failed(error: Error) -> Self {
        Having {
            node: Err(error),
            nesting: 0,
            rows: PhantomData,
        }
    }

    fn joined(self, other: Self, join: Connective) -> Self {
        let parts = |node: Node, nesting: usize| match node {
            Node::Joined(of, nodes) if of == join => (nodes, nesting),
            node => (vec![node], 2 + nesting),
        };
        match (self.node, other.node) {
            (Ok(left), Ok(right)) => {
                let (mut nodes, left) = parts(left, self.nesting);
                let (more, right) = parts(right, other.nesting);
                nodes.extend(more);
                Having::combined(Node::Joined(join, nodes), left.max(right))
            }
            (Err(error), _) | (_, Err(error)) => Having::failed(error),
        }
    }

    pub(crate) fn lower(self, at: &mut dyn FnMut(Computed) -> usize) -> Result<Filter> {
        self.node.map(|node| node.lower(at))
    }
}

impl<S> std::ops::BitAnd for Having<S> {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        self.joined(other, Connective::And)
    }
}

impl<S> std::ops::BitOr for Having<S> {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.joined(other, Connective::Or)
    }
}

impl<S> std::ops::Not for Having<S> {
    type Output = Self;

    fn not(self) -> Self {
        match self.node {
            Ok(node) => Having::combined(Node::Not(Box::new(node)), 2 + self.nesting),
            Err(error) => Having::failed(error),
        }
    }
}

/// The order of groups. Groups that are equal in it are in the order of their keys.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let order = Order::fields();
/// let spent = shop.orders.all().group_by(order.customer).select(order.total.sum());
/// let best = spent.sort(order.total.sum().desc().then(order.customer.asc())).limit(1).await?;
/// assert_eq!(best, [("kate".to_owned(), 176.0)]);
/// # Ok(()) });
/// ```
#[must_use = "a sort does nothing until a query uses it"]
pub struct GroupSort<S> {
    pub(crate) by: Result<Vec<(SortBy, Direction)>>,
    pub(crate) ignores_case: bool,
    rows: PhantomData<fn() -> S>,
}

#[derive(Debug, Clone)]
pub(crate) enum SortBy {
    Key(GroupKey),
    Computed(Computed),
}

impl<S> GroupSort<S> {
    fn new(by: SortBy, direction: Direction) -> Self {
        GroupSort {
            by: Ok(vec![(by, direction)]),
            ignores_case: false,
            rows: PhantomData,
        }
    }

    /// Adds another sort as a tie-breaker.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::query::count;
    ///
    /// let day = Order::fields().placed.start_of_day();
    /// let rows = shop.orders.all().count_by(day).sort(count().desc().then(day.asc())).await?;
    /// assert_eq!(rows[0].1, 2);
    /// # Ok(()) });
    /// ```
    pub fn then<How>(mut self, other: impl SortsGroups<S, How>) -> Self {
        let other = other.into_sort();
        self.by = self.by.and_then(|by| Ok([by, other.by?].concat()));
        self.ignores_case |= other.ignores_case;
        self
    }
}

/// The sort keys of groups: an aggregate, or a key of the groups.
#[diagnostic::on_unimplemented(
    message = "groups cannot be sorted by this",
    label = "not a sort of these groups",
    note = "sort by what is computed, as `count().desc()`, or by a key, as `Order::fields().status.asc()`"
)]
pub trait SortsGroups<S, How> {
    #[doc(hidden)]
    fn into_sort(self) -> GroupSort<S>;
}

impl<S> SortsGroups<S, ()> for GroupSort<S> {
    fn into_sort(self) -> GroupSort<S> {
        self
    }
}

impl<S, How, R: In<S, How>> SortsGroups<S, (How,)> for Sort<R> {
    fn into_sort(self) -> GroupSort<S> {
        let sort = self.into_mql();
        let ignores_case = sort.as_ref().is_ok_and(mql::Sort::ignores_case);
        let by = sort.map(|sort| {
            let keys = sort.keys().iter().map(|(path, direction)| {
                let place = GroupedPath {
                    is_element: R::IS_ELEMENT,
                    path: path.clone(),
                    part: None,
                };
                let start_of = None;
                (SortBy::Key(GroupKey { place, start_of }), *direction)
            });
            keys.collect()
        });
        GroupSort {
            by,
            ignores_case,
            rows: PhantomData,
        }
    }
}

impl<V, P: Path> StartOf<V, P> {
    fn sort<S, How>(self, direction: Direction) -> GroupSort<S>
    where
        P::Root: In<S, How>,
    {
        let key = GroupKey {
            place: GroupedPath::of::<S, How, P>(),
            start_of: Some(self.unit),
        };
        GroupSort::new(SortBy::Key(key), direction)
    }

    /// Sorts groups by it, the earliest first.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let day = Order::fields().placed.start_of_day();
    /// let days = shop.orders.all().count_by(day).sort(day.asc()).await?;
    /// assert_eq!(days[0].1, 2);
    /// # Ok(()) });
    /// ```
    pub fn asc<S, How>(self) -> GroupSort<S>
    where
        P::Root: In<S, How>,
    {
        self.sort(Direction::Ascending)
    }

    /// Sorts groups by it, the latest first.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // The last month on top.
    /// let month = Order::fields().placed.start_of_month();
    /// let months = shop.orders.all().count_by(month).sort(month.desc()).limit(12).await?;
    /// assert_eq!(months[0], ("2026-04-01".parse()?, 1));
    /// # Ok(()) });
    /// ```
    pub fn desc<S, How>(self) -> GroupSort<S>
    where
        P::Root: In<S, How>,
    {
        self.sort(Direction::Descending)
    }
}

macro_rules! comparisons {
    ($($(#[$attribute:meta])* $name:ident: $test:path;)*) => {
        impl Count {
            $($(#[$attribute])*
            pub fn $name<S>(self, value: u64) -> Having<S> {
                Having::test(self.computed(), to_raw(&value).map($test))
            })*

            /// Sorts groups by it, the least first.
            ///
            /// ```
            /// # use odm::derive::examples::*; example(async |shop| {
            /// use odm::query::count;
            ///
            /// let rare = shop.reviews.all().count_by(Review::fields().stars).sort(count().asc()).limit(1).await?;
            /// assert_eq!(rare, [(3, 1)]);
            /// # Ok(()) });
            /// ```
            pub fn asc<S>(self) -> GroupSort<S> {
                GroupSort::new(SortBy::Computed(self.computed()), Direction::Ascending)
            }

            /// Sorts groups by it, the greatest first.
            ///
            /// ```
            /// # use odm::derive::examples::*; example(async |shop| {
            /// use odm::query::count;
            ///
            /// let common = shop.reviews.all().count_by(Review::fields().stars).sort(count().desc()).limit(1).await?;
            /// assert_eq!(common, [(5, 2)]);
            /// # Ok(()) });
            /// ```
            pub fn desc<S>(self) -> GroupSort<S> {
                GroupSort::new(SortBy::Computed(self.computed()), Direction::Descending)
            }
        }

        impl<T, P: Path> Accumulator<T, P> {
            $($(#[$attribute])*
            pub fn $name<S, Root, How>(self, value: impl IntoValue<T, How>) -> Having<S>
            where
                T: Serialize,
                P::Root: In<S, Root>,
            {
                Having::test(self.computed(), to_raw(&value.into_value()).map($test))
            })*

            /// Sorts groups by it, the least first.
            ///
            /// ```
            /// # use odm::derive::examples::*; example(async |shop| {
            /// let review = Review::fields();
            /// let ratings = shop.reviews.all().group_by(review.product).select(review.stars.avg());
            /// assert_eq!(ratings.sort(review.stars.avg().asc()).limit(1).await?, [(Ref::new(1), Some(4.0))]);
            /// # Ok(()) });
            /// ```
            pub fn asc<S, How>(self) -> GroupSort<S>
            where
                P::Root: In<S, How>,
            {
                GroupSort::new(SortBy::Computed(self.computed()), Direction::Ascending)
            }

            /// Sorts groups by it, the greatest first.
            ///
            /// ```
            /// # use odm::derive::examples::*; example(async |shop| {
            /// let order = Order::fields();
            /// let spent = shop.orders.all().group_by(order.customer).select(order.total.sum());
            /// assert_eq!(spent.sort(order.total.sum().desc()).limit(1).await?, [("kate".to_owned(), 176.0)]);
            /// # Ok(()) });
            /// ```
            pub fn desc<S, How>(self) -> GroupSort<S>
            where
                P::Root: In<S, How>,
            {
                GroupSort::new(SortBy::Computed(self.computed()), Direction::Descending)
            }
        }
    };
}
comparisons! {
    /// Keeps the groups whose aggregate equals the value.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::query::count;
    ///
    /// let rows = shop.reviews.all().count_by(Review::fields().stars).having(count().eq(2)).await?;
    /// assert_eq!(rows, [(5, 2)]);
    /// # Ok(()) });
    /// ```
    eq: Test::Eq;
    /// Keeps the groups whose aggregate differs from the value.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::query::count;
    ///
    /// let rows = shop.reviews.all().count_by(Review::fields().stars).having(count().ne(1)).await?;
    /// assert_eq!(rows, [(5, 2)]);
    /// # Ok(()) });
    /// ```
    ne: Test::Ne;
    /// Keeps the groups whose aggregate is greater than the value.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let order = Order::fields();
    /// let spent = shop.orders.all().group_by(order.customer).select(order.total.sum());
    /// assert_eq!(spent.having(order.total.sum().gt(100.0)).await?, [("kate".to_owned(), 176.0)]);
    /// # Ok(()) });
    /// ```
    gt: Test::Gt;
    /// Keeps the groups whose aggregate is at least the value.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::query::count;
    ///
    /// let regulars = shop.orders.all().count_by(Order::fields().customer).having(count().gte(2)).await?;
    /// assert_eq!(regulars, [("kate".to_owned(), 2)]);
    /// # Ok(()) });
    /// ```
    gte: Test::Gte;
    /// Keeps the groups whose aggregate is less than the value.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let order = Order::fields();
    /// let spent = shop.orders.all().group_by(order.customer).select(order.total.sum());
    /// assert_eq!(spent.having(order.total.sum().lt(100.0)).await?, [("joe".to_owned(), 49.0)]);
    /// # Ok(()) });
    /// ```
    lt: Test::Lt;
    /// Keeps the groups whose aggregate is at most the value.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::query::count;
    ///
    /// let once = shop.orders.all().count_by(Order::fields().customer).having(count().lte(1)).await?;
    /// assert_eq!(once, [("joe".to_owned(), 1)]);
    /// # Ok(()) });
    /// ```
    lte: Test::Lte;
}
