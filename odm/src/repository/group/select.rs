//! The keys and the aggregates of groups, and how both are read from the rows.

use std::fmt;

use bson::{RawBson, RawBsonRef, RawDocument};
use odm_mql::{group::DateUnit, path};
use odm_store::Result;

use crate::{
    model::{Field, Path, Returned},
    query::group::{Accumulator, Computed, Count, GroupKey, In, StartOf},
    repository::{Follow, rows},
};

/// Reads the next values of a row.
pub(super) type Read<V> = Box<dyn Fn(&mut RowValues<'_>) -> Result<V> + Send + Sync>;

/// The values of a row that are not read yet.
pub(super) struct RowValues<'r> {
    collection: &'r str,
    left: Box<dyn Iterator<Item = RawBsonRef<'r>> + 'r>,
}

impl<'r> RowValues<'r> {
    pub(super) fn keys_of(collection: &'r str, row: &'r RawDocument) -> RowValues<'r> {
        let keys = match path::get(row, "_id") {
            Some(RawBsonRef::Document(keys)) => Some(keys),
            _ => None,
        };
        let keys = keys.into_iter().flatten().flatten();
        RowValues {
            collection,
            left: Box::new(keys.map(|(_, value)| value)),
        }
    }

    pub(super) fn computed_of(collection: &'r str, row: &'r RawDocument) -> RowValues<'r> {
        let fields = row.iter().flatten();
        let fields = fields.filter(|(name, _)| name.as_str() != "_id");
        RowValues {
            collection,
            left: Box::new(fields.map(|(_, value)| value)),
        }
    }

    fn read<V: Returned<How>, How>(
        &mut self,
        name: &str,
        widen: impl FnOnce(RawBson) -> RawBson,
    ) -> Result<V::Value> {
        let value = self.left.next().unwrap_or(RawBsonRef::Null);
        rows::value::<V, How>(self.collection, name, widen(value.into()))
    }
}

/// The keys of groups: a field, the start of a unit of time of a date, or a tuple of these.
#[diagnostic::on_unimplemented(
    message = "documents cannot be grouped by this",
    label = "not a key of groups",
    note = "group by a field, as `Order::fields().status`, by a unit of time, as \
            `Order::fields().placed.start_of_day()`, or by a tuple of up to four of these"
)]
pub trait GroupKeys<S, How> {
    /// Their values in a row.
    type Values: Send + 'static;
    #[doc(hidden)]
    fn into_keys(self) -> KeysOf<Self::Values>;
}

/// The keys of groups, and how they are read.
pub struct KeysOf<V> {
    pub(super) keys: Result<Vec<GroupKey>>,
    pub(super) read: Read<V>,
}

impl<V> fmt::Debug for KeysOf<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.keys.fmt(f)
    }
}

fn key<S, How, V, R, P>(start_of: Option<DateUnit>) -> KeysOf<V::Value>
where
    V: Returned<R>,
    P: Path<Root: In<S, How>>,
{
    KeysOf {
        keys: GroupKey::new::<S, How, V, R, P>(start_of).map(|key| vec![key]),
        read: Box::new(|values| values.read::<V, R>(P::TEXT, |value| value)),
    }
}

impl<S, How, R, V, P, K> GroupKeys<S, (How, R)> for Field<V, P, K>
where
    V: Returned<R>,
    P: Path<Root: In<S, How>>,
{
    type Values = V::Value;

    fn into_keys(self) -> KeysOf<V::Value> {
        key::<S, How, V, R, P>(None)
    }
}

impl<S, How, R, V, P, K> GroupKeys<S, (How, R)> for Follow<Field<Option<V>, P, K>, ()>
where
    Option<V>: Returned<R>,
    P: Path<Root: In<S, How>>,
{
    type Values = <Option<V> as Returned<R>>::Value;

    fn into_keys(self) -> KeysOf<Self::Values> {
        key::<S, How, Option<V>, R, P>(None)
    }
}

impl<S, How, R, V, P> GroupKeys<S, (How, R)> for StartOf<V, P>
where
    V: Returned<R>,
    P: Path<Root: In<S, How>>,
{
    type Values = V::Value;

    fn into_keys(self) -> KeysOf<V::Value> {
        key::<S, How, V, R, P>(Some(self.unit))
    }
}

/// The aggregates of each group: [`count`](crate::query::count), a sum, mean, minimum or maximum of a field, or a tuple of these.
#[diagnostic::on_unimplemented(
    message = "this is not computed of a group",
    label = "not an aggregate",
    note = "select `count()`, `Order::fields().total.sum()`, `.avg()`, `.min()`, `.max()`, or a tuple of up to six \
            of these"
)]
pub trait Aggregates<S, How> {
    /// Their values in a row.
    type Values: Send + 'static;
    #[doc(hidden)]
    fn into_computed(self) -> ComputedOf<Self::Values>;
}

/// The aggregates of a group, and how they are read.
pub struct ComputedOf<V> {
    pub(super) computed: Vec<Computed>,
    pub(super) read: Read<V>,
}

impl<V> fmt::Debug for ComputedOf<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.computed.fmt(f)
    }
}

impl<S> Aggregates<S, ()> for Count {
    type Values = u64;

    fn into_computed(self) -> ComputedOf<u64> {
        ComputedOf {
            computed: vec![self.computed()],
            read: Box::new(|values| values.read::<u64, ()>("count", |value| value)),
        }
    }
}

impl<S, How, R, T, P> Aggregates<S, (How, R)> for Accumulator<T, P>
where
    T: Returned<R>,
    P: Path<Root: In<S, How>>,
{
    type Values = T::Value;

    fn into_computed(self) -> ComputedOf<T::Value> {
        let computed = self.computed::<S, How>();
        let (name, widen) = (computed.name(), self.widen);
        ComputedOf {
            computed: vec![computed],
            read: Box::new(move |values| values.read::<T, R>(&name, widen)),
        }
    }
}

macro_rules! tuples {
    ($($trait:ident, $into:ident, $of:ident, $list:ident, $try:tt: $(($($part:ident $how:ident),+))*;)*) => {
        $($(
            impl<S, $($how,)+ $($part: $trait<S, $how>),+> $trait<S, ($($how,)+)> for ($($part,)+) {
                type Values = ($($part::Values,)+);

                #[expect(non_snake_case, reason = "a variable for each type")]
                fn $into(self) -> $of<Self::Values> {
                    let ($($part,)+) = self;
                    $(let $part = $part.$into();)+
                    let lists = [$($part.$list),+];
                    $(let $part = $part.read;)+
                    $of {
                        $list: tuples!(@$try lists),
                        read: Box::new(move |values| Ok(($($part(values)?,)+))),
                    }
                }
            }
        )*)*
    };
    (@results $lists:ident) => {
        $lists.into_iter().try_fold(Vec::new(), |mut all, list| {
            all.extend(list?);
            Ok(all)
        })
    };
    (@lists $lists:ident) => { $lists.into_iter().flatten().collect() };
}
tuples! {
    GroupKeys, into_keys, KeysOf, keys, results: (A HA) (A HA, B HB) (A HA, B HB, C HC) (A HA, B HB, C HC, D HD);
    Aggregates, into_computed, ComputedOf, computed, lists: (A HA) (A HA, B HB) (A HA, B HB, C HC)
        (A HA, B HB, C HC, D HD) (A HA, B HB, C HC, D HD, E HE) (A HA, B HB, C HC, D HD, E HE, F HF);
}
