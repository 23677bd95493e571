//! Which documents are meant, in types.

use std::{
    borrow::Cow,
    marker::PhantomData,
    ops::{BitAnd, BitOr, Not},
};

use bson::RawBson;
use serde::Serialize;

use crate::{
    error::{Error, Result},
    model::{
        Contains, Embed, Field, IntoValue, List, Ordered, Path, Root, Structure, Text, to_raw,
    },
    mql::{self, Pattern, Test},
};

/// A condition on the documents of `M`, or on the elements of an array.
///
/// Made of fields, and combined by `&`, `|` and `!`:
///
/// ```
/// # use odm::prelude::*; use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize, Document)] #[document(collection = "parts")]
/// # struct Part { #[serde(rename = "_id")] id: i64, name: String, qty: i64 }
/// let scarce = Part::fields().qty.lt(10) & !Part::fields().name.starts_with("#");
/// ```
///
/// A value that cannot be written as BSON is reported when the query runs.
pub struct Filter<M> {
    filter: Result<mql::Filter>,
    model: PhantomData<fn() -> M>,
}

impl<M> Filter<M> {
    /// Every document.
    pub fn all() -> Self {
        Filter::of(Ok(mql::Filter::default()))
    }

    /// A filter in MongoDB's form. An operator that the library does not know is reported when the
    /// query runs.
    pub fn raw(filter: bson::Document) -> Self {
        Filter::of(mql::Filter::parse(&filter).map_err(Error::from))
    }

    pub(crate) fn into_mql(self) -> Result<mql::Filter> {
        self.filter
    }

    pub(crate) fn of(filter: Result<mql::Filter>) -> Self {
        Filter {
            filter,
            model: PhantomData,
        }
    }

    fn test(path: &'static str, test: Result<Test>) -> Self {
        Filter::of(test.map(|test| mql::Filter::Path(Cow::Borrowed(path), test)))
    }
}

impl<M> Clone for Filter<M> {
    fn clone(&self) -> Self {
        Filter::of(self.filter.clone())
    }
}

impl<M> std::fmt::Debug for Filter<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.filter {
            Ok(filter) => write!(f, "Filter({})", filter.to_document()),
            Err(error) => write!(f, "Filter({error})"),
        }
    }
}

impl<M> BitAnd for Filter<M> {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Filter::of(self.filter.and_then(|left| Ok(left.and(other.filter?))))
    }
}

impl<M> BitOr for Filter<M> {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Filter::of(self.filter.and_then(|left| {
            let mut sides = match left {
                mql::Filter::Or(sides) => sides,
                side => vec![side],
            };
            match other.filter? {
                mql::Filter::Or(more) => sides.extend(more),
                side => sides.push(side),
            }
            Ok(mql::Filter::Or(sides))
        }))
    }
}

impl<M> Not for Filter<M> {
    type Output = Self;

    fn not(self) -> Self {
        Filter::of(self.filter.map(|filter| mql::Filter::Nor(vec![filter])))
    }
}

fn raw<V: Serialize, How>(value: impl IntoValue<V, How>) -> Result<RawBson> {
    to_raw(&value.into_value())
}

fn raws<V: Serialize, How, T: IntoValue<V, How>>(
    values: impl IntoIterator<Item = T>,
) -> Result<Vec<RawBson>> {
    values.into_iter().map(raw).collect()
}

impl<V: Serialize, P: Path, K> Field<V, P, K> {
    /// Equal to the value. A null or missing field equals `None`.
    pub fn eq<How>(self, value: impl IntoValue<V, How>) -> Filter<P::Root> {
        Filter::test(P::TEXT, raw(value).map(Test::Eq))
    }

    /// Not equal to the value; also where the field is missing.
    pub fn ne<How>(self, value: impl IntoValue<V, How>) -> Filter<P::Root> {
        Filter::test(P::TEXT, raw(value).map(Test::Ne))
    }

    /// Equal to one of the values.
    pub fn in_<How, T: IntoValue<V, How>>(
        self,
        values: impl IntoIterator<Item = T>,
    ) -> Filter<P::Root> {
        Filter::test(P::TEXT, raws(values).map(Test::In))
    }

    /// Equal to none of the values; also where the field is missing.
    pub fn not_in<How, T: IntoValue<V, How>>(
        self,
        values: impl IntoIterator<Item = T>,
    ) -> Filter<P::Root> {
        Filter::test(P::TEXT, raws(values).map(Test::Nin))
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Whether the field is stored at all; a stored null exists.
    pub fn exists(self, exists: bool) -> Filter<P::Root> {
        Filter::test(P::TEXT, Ok(Test::Exists(exists)))
    }

    /// Null or missing.
    pub fn is_null(self) -> Filter<P::Root> {
        Filter::test(P::TEXT, Ok(Test::Eq(RawBson::Null)))
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Greater than the value.
    pub fn gt<How>(self, value: impl IntoValue<V, How>) -> Filter<P::Root>
    where
        V: Serialize + Ordered,
    {
        Filter::test(P::TEXT, raw(value).map(Test::Gt))
    }

    /// Greater than the value or equal to it.
    pub fn gte<How>(self, value: impl IntoValue<V, How>) -> Filter<P::Root>
    where
        V: Serialize + Ordered,
    {
        Filter::test(P::TEXT, raw(value).map(Test::Gte))
    }

    /// Less than the value.
    pub fn lt<How>(self, value: impl IntoValue<V, How>) -> Filter<P::Root>
    where
        V: Serialize + Ordered,
    {
        Filter::test(P::TEXT, raw(value).map(Test::Lt))
    }

    /// Less than the value or equal to it.
    pub fn lte<How>(self, value: impl IntoValue<V, How>) -> Filter<P::Root>
    where
        V: Serialize + Ordered,
    {
        Filter::test(P::TEXT, raw(value).map(Test::Lte))
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Starts with the text. An index on the field serves it.
    pub fn starts_with(self, prefix: &str) -> Filter<P::Root>
    where
        V: Text,
    {
        self.regex(&format!("^{}", regex::escape(prefix)))
    }

    /// Matched by the regular expression, in the syntax of the `regex` crate. Flags stand in it, as
    /// in `(?i)abc`.
    pub fn regex(self, pattern: &str) -> Filter<P::Root>
    where
        V: Text,
    {
        Filter::test(
            P::TEXT,
            Pattern::new(pattern, "")
                .map(Test::Regex)
                .map_err(Error::from),
        )
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// An array with an element equal to the value, or a string with the value in it.
    pub fn contains<How>(self, value: impl IntoValue<V::Item, How>) -> Filter<P::Root>
    where
        V: Contains<Item: Serialize>,
    {
        let test = raw(value).and_then(|value| match value {
            RawBson::String(part) if V::SUBSTRING => {
                Ok(Test::Regex(Pattern::new(&regex::escape(&part), "")?))
            }
            element => Ok(Test::Eq(element)),
        });
        Filter::test(P::TEXT, test)
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// An array with each of the values among its elements. No values match nothing.
    pub fn all<How, T: IntoValue<V::Item, How>>(
        self,
        values: impl IntoIterator<Item = T>,
    ) -> Filter<P::Root>
    where
        V: List<Item: Serialize>,
    {
        let tests = raws(values).map(|values| values.into_iter().map(Test::Eq).collect());
        Filter::test(P::TEXT, tests.map(Test::All))
    }

    /// An array of this length.
    pub fn len(self, length: u32) -> Filter<P::Root>
    where
        V: List,
    {
        Filter::test(P::TEXT, Ok(Test::Size(length.into())))
    }

    /// An array with an element that the filter matches as a whole: `$elemMatch`.
    pub fn any<F>(self, filter: F) -> Filter<P::Root>
    where
        V: List<Item: Embed>,
        F: FnOnce(&'static <V::Item as Structure>::Fields<Root<V::Item>>) -> Filter<V::Item>,
    {
        let element = filter(<V::Item as Structure>::fields());
        Filter::test(
            P::TEXT,
            element
                .filter
                .map(|filter| Test::ElemMatch(Box::new(filter))),
        )
    }
}
