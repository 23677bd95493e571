//! Typed filters.

mod combine;
mod lists;

use std::{
    borrow::Cow,
    marker::PhantomData,
    ops::{BitAnd, BitOr},
};

use bson::RawBson;
use odm_mql::{self as mql, Pattern, Test};
use odm_store::{Error, Result};
use serde::Serialize;

use crate::model::{Contains, Field, IntoValue, Ordered, Path, Text, to_raw_at};

/// A filter of the documents of `M`, or of the elements of an array.
///
/// It is made of fields, and combined with others by `&`, `|`, `!`, `&=` and `|=`:
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let scarce = Part::fields().qty.lt(10) & !Part::fields().name.starts_with("#");
/// assert_eq!(shop.parts.find(scarce).one().await?.name, "nut");
///
/// let mut asked = Filter::all();
/// asked &= Part::fields().qty.gt(80);
/// assert_eq!(shop.parts.find(asked).count().await?, 2);
/// # Ok(()) });
/// ```
///
/// If a value cannot be written as BSON, or a filter is nested deeper than 180 levels in MongoDB's form, the query fails when it runs. Many
/// conditions on one level, as `a & b & c`, are one level.
#[must_use = "a filter does nothing until a query uses it"]
pub struct Filter<M> {
    filter: Result<mql::Filter>,
    /// How deep its form is nested at most, but for its values.
    nesting: usize,
    model: PhantomData<fn() -> M>,
}

impl<M> Filter<M> {
    /// Matches every document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // Filters that are put together step by step begin with it.
    /// assert_eq!(shop.parts.find(Filter::all()).count().await?, 3);
    /// # Ok(()) });
    /// ```
    pub fn all() -> Self {
        Filter::from_mql(Ok(mql::Filter::default()))
    }

    /// Matches the documents that match all of the filters. Without filters it matches every document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // What a request asks for, where each condition may be missing.
    /// fn search(name: Option<&str>, least: Option<i64>) -> Filter<Part> {
    ///     let part = Part::fields();
    ///     Filter::all_of([part.name.eq_opt(name), part.qty.gte_opt(least)])
    /// }
    /// assert_eq!(shop.parts.find(search(None, Some(90))).count().await?, 2);
    /// # Ok(()) });
    /// ```
    pub fn all_of(filters: impl IntoIterator<Item = Self>) -> Self {
        filters.into_iter().fold(Filter::all(), BitAnd::bitand)
    }

    /// Matches the documents that match any of the filters. Without filters it matches nothing.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // Each word of a search, in any field.
    /// let words = ["nut", "new"].map(|word| Part::fields().name.eq(word) | Part::fields().tags.contains(word));
    /// assert_eq!(shop.parts.find(Filter::any_of(words)).count().await?, 2);
    /// # Ok(()) });
    /// ```
    pub fn any_of(filters: impl IntoIterator<Item = Self>) -> Self {
        let any = filters.into_iter().reduce(BitOr::bitor);
        any.unwrap_or_else(|| Filter::test("_id", Ok(Test::In(Vec::new().into()))))
    }

    /// Makes a filter from MongoDB's form. An unknown operator is an error when the query runs.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::bson::doc;
    ///
    /// // An expression that compares two fields of one document.
    /// let cheap = Filter::raw(doc! { "$expr": { "$lt": [{ "$multiply": ["$price", "$qty"] }, 1] } });
    /// assert_eq!(shop.parts.find(cheap).one().await?.name, "nut");
    /// # Ok(()) });
    /// ```
    pub fn raw(filter: bson::Document) -> Self {
        Filter::from_mql(mql::Filter::parse(&filter).map_err(Error::from))
    }

    pub(crate) fn into_mql(self) -> Result<mql::Filter> {
        self.filter
    }

    pub(crate) fn from_mql(filter: Result<mql::Filter>) -> Self {
        let filter = filter.and_then(|filter| Ok(filter.within_depth()?));
        Filter {
            nesting: filter.as_ref().map_or(0, mql::Filter::nesting),
            filter,
            model: PhantomData,
        }
    }

    fn test(path: &'static str, test: Result<Test>) -> Self {
        Filter::from_mql(test.map(|test| mql::Filter::Path(Cow::Borrowed(path), test)))
    }

    fn pattern(path: &'static str, pattern: Result<Pattern, odm_mql::PatternError>) -> Self {
        Filter::test(
            path,
            pattern
                .map(Test::Regex)
                .map_err(mql::Error::from)
                .map_err(Error::from),
        )
    }
}

impl<M> Clone for Filter<M> {
    fn clone(&self) -> Self {
        Filter {
            filter: self.filter.clone(),
            ..*self
        }
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

fn raw<V: Serialize, How>(path: &str, value: impl IntoValue<V, How>) -> Result<RawBson> {
    to_raw_at(path, &value.into_value())
}

fn raws<V: Serialize, How, T: IntoValue<V, How>>(
    path: &str,
    values: impl IntoIterator<Item = T>,
) -> Result<Vec<RawBson>> {
    let values = values.into_iter();
    values.map(|value| raw(path, value)).collect()
}

impl<V: Serialize, P: Path, K> Field<V, P, K> {
    /// Matches if the field equals the value. A null or missing field equals `None`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.parts.find(Part::fields().name.eq("bolt")).one().await?.id, 1);
    /// // Of a reference, a value names the document: by its `_id`, as a reference, or itself.
    /// let lamp = shop.products.get(2).await?;
    /// assert_eq!(shop.reviews.find(Review::fields().product.eq(&lamp)).one().await?.text, "Bright");
    /// # Ok(()) });
    /// ```
    pub fn eq<How>(self, value: impl IntoValue<V, How>) -> Filter<P::Root> {
        Filter::test(P::TEXT, raw(P::TEXT, value).map(Test::Eq))
    }

    /// Like [`eq`](Field::eq) if there is a value, and otherwise matches every document, where
    /// `eq(None)` matches null.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let asked: Option<&str> = None; // the request has no `name`
    /// assert_eq!(shop.parts.find(Part::fields().name.eq_opt(asked)).count().await?, 3);
    /// # Ok(()) });
    /// ```
    pub fn eq_opt<How>(self, value: Option<impl IntoValue<V, How>>) -> Filter<P::Root> {
        value.map_or_else(Filter::all, |value| self.eq(value))
    }

    /// Matches if the field does not equal the value, or is missing.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.parts.find(Part::fields().note.ne("M4")).count().await?, 2); // two have no note
    /// # Ok(()) });
    /// ```
    pub fn ne<How>(self, value: impl IntoValue<V, How>) -> Filter<P::Root> {
        Filter::test(P::TEXT, raw(P::TEXT, value).map(Test::Ne))
    }

    /// Matches if the field equals one of the values.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let known = shop.parts.find(Part::fields().name.in_(["bolt", "nut", "rivet"])).await?;
    /// assert_eq!(known.len(), 2);
    /// # Ok(()) });
    /// ```
    pub fn in_<How, T: IntoValue<V, How>>(
        self,
        values: impl IntoIterator<Item = T>,
    ) -> Filter<P::Root> {
        Filter::test(
            P::TEXT,
            raws(P::TEXT, values).map(|values| Test::In(values.into())),
        )
    }

    /// Matches if the field equals none of the values, or is missing.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let others = shop.parts.find(Part::fields().name.not_in(["bolt", "nut"])).one().await?;
    /// assert_eq!(others.name, "washer");
    /// # Ok(()) });
    /// ```
    pub fn not_in<How, T: IntoValue<V, How>>(
        self,
        values: impl IntoIterator<Item = T>,
    ) -> Filter<P::Root> {
        Filter::test(
            P::TEXT,
            raws(P::TEXT, values).map(|values| Test::Nin(values.into())),
        )
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Matches by whether the field is stored. A stored null exists.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::bson::doc;
    ///
    /// // Documents from before a field was added lack it, where an empty one is stored as null.
    /// shop.parts.update_where(Part::fields().id.eq(3)).raw(doc! { "$unset": { "note": "" } }).await?;
    /// assert_eq!(shop.parts.find(Part::fields().note.exists(false)).count().await?, 1);
    /// # Ok(()) });
    /// ```
    pub fn exists(self, exists: bool) -> Filter<P::Root> {
        Filter::test(P::TEXT, Ok(Test::Exists(exists)))
    }

    /// Matches if the field is null or missing.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let open = shop.orders.find(Order::fields().shipped.is_null());
    /// assert_eq!(open.count().await?, 3);
    /// # Ok(()) });
    /// ```
    pub fn is_null(self) -> Filter<P::Root> {
        Filter::test(P::TEXT, Ok(Test::Eq(RawBson::Null)))
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Matches if the field is greater than the value.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let march = "2026-03-05".parse::<DateTime>()?;
    /// assert_eq!(shop.reviews.find(Review::fields().published.gt(march)).one().await?.text, "Good");
    /// # Ok(()) });
    /// ```
    pub fn gt<How>(self, value: impl IntoValue<V, How>) -> Filter<P::Root>
    where
        V: Serialize + Ordered,
    {
        Filter::test(P::TEXT, raw(P::TEXT, value).map(Test::Gt))
    }

    /// Like [`gt`](Field::gt) if there is a value, and otherwise matches every document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let (least, most) = (Some(5), None::<i64>); // ?stock[gt]=5
    /// let stock = Part::fields().qty;
    /// assert_eq!(shop.parts.find(stock.gt_opt(least) & stock.lt_opt(most)).count().await?, 2);
    /// # Ok(()) });
    /// ```
    pub fn gt_opt<How>(self, value: Option<impl IntoValue<V, How>>) -> Filter<P::Root>
    where
        V: Serialize + Ordered,
    {
        value.map_or_else(Filter::all, |value| self.gt(value))
    }

    /// Matches if the field is greater than the value or equal to it.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let day: DateTime = "2026-03-01".parse()?;
    /// let next: DateTime = "2026-03-02".parse()?;
    /// let placed = Order::fields().placed;
    /// assert_eq!(shop.orders.find(placed.gte(day) & placed.lt(next)).count().await?, 2);
    /// # Ok(()) });
    /// ```
    pub fn gte<How>(self, value: impl IntoValue<V, How>) -> Filter<P::Root>
    where
        V: Serialize + Ordered,
    {
        Filter::test(P::TEXT, raw(P::TEXT, value).map(Test::Gte))
    }

    /// Like [`gte`](Field::gte) if there is a value, and otherwise matches every document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let stars: Option<i32> = Some(4);
    /// assert_eq!(shop.reviews.find(Review::fields().stars.gte_opt(stars)).count().await?, 3);
    /// # Ok(()) });
    /// ```
    pub fn gte_opt<How>(self, value: Option<impl IntoValue<V, How>>) -> Filter<P::Root>
    where
        V: Serialize + Ordered,
    {
        value.map_or_else(Filter::all, |value| self.gte(value))
    }

    /// Matches if the field is less than the value.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.parts.find(Part::fields().qty.lt(10)).one().await?.name, "nut");
    /// # Ok(()) });
    /// ```
    pub fn lt<How>(self, value: impl IntoValue<V, How>) -> Filter<P::Root>
    where
        V: Serialize + Ordered,
    {
        Filter::test(P::TEXT, raw(P::TEXT, value).map(Test::Lt))
    }

    /// Like [`lt`](Field::lt) if there is a value, and otherwise matches every document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let before: Option<DateTime> = None;
    /// assert_eq!(shop.orders.find(Order::fields().placed.lt_opt(before)).count().await?, 3);
    /// # Ok(()) });
    /// ```
    pub fn lt_opt<How>(self, value: Option<impl IntoValue<V, How>>) -> Filter<P::Root>
    where
        V: Serialize + Ordered,
    {
        value.map_or_else(Filter::all, |value| self.lt(value))
    }

    /// Matches if the field is less than the value or equal to it.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.products.find(Product::fields().price.value.lte(49.0)).count().await?, 2);
    /// # Ok(()) });
    /// ```
    pub fn lte<How>(self, value: impl IntoValue<V, How>) -> Filter<P::Root>
    where
        V: Serialize + Ordered,
    {
        Filter::test(P::TEXT, raw(P::TEXT, value).map(Test::Lte))
    }

    /// Like [`lte`](Field::lte) if there is a value, and otherwise matches every document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let budget = Some(20.0);
    /// assert_eq!(shop.products.find(Product::fields().price.value.lte_opt(budget)).one().await?.name, "lamp");
    /// # Ok(()) });
    /// ```
    pub fn lte_opt<How>(self, value: Option<impl IntoValue<V, How>>) -> Filter<P::Root>
    where
        V: Serialize + Ordered,
    {
        value.map_or_else(Filter::all, |value| self.lte(value))
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Matches if the field starts with the text. An index on the field is used.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.parts.find(Part::fields().name.starts_with("wash")).one().await?.name, "washer");
    /// # Ok(()) });
    /// ```
    pub fn starts_with(self, prefix: &str) -> Filter<P::Root>
    where
        V: Text,
    {
        self.regex(&format!("^{}", mql::escape(prefix)))
    }

    /// Matches if the field equals the text, ignoring case, by Unicode's simple case folding: "ÄRGER" equals "ärger", and "ß" is no "ss". A
    /// null or missing field matches nothing. An index that is `case_insensitive` is used.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.parts.find(Part::fields().name.eq_ignore_case("Bolt")).one().await?.name, "bolt");
    /// # Ok(()) });
    /// ```
    pub fn eq_ignore_case(self, text: &str) -> Filter<P::Root>
    where
        V: Text,
    {
        Filter::pattern(P::TEXT, Pattern::equal_ignoring_case(text))
    }

    /// Matches if the field equals one of the texts, as [`eq_ignore_case`](Field::eq_ignore_case) does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let typed = ["BOLT", "Nut"];
    /// assert_eq!(shop.parts.find(Part::fields().name.in_ignore_case(typed)).count().await?, 2);
    /// # Ok(()) });
    /// ```
    pub fn in_ignore_case<T: AsRef<str>>(
        self,
        texts: impl IntoIterator<Item = T>,
    ) -> Filter<P::Root>
    where
        V: Text,
    {
        let texts = texts.into_iter();
        let tests = texts.map(|text| Pattern::equal_ignoring_case(text.as_ref()).map(Test::Regex));
        let tests: Result<Vec<_>, _> = tests.collect();
        Filter::test(
            P::TEXT,
            tests
                .map(Test::Any)
                .map_err(mql::Error::from)
                .map_err(Error::from),
        )
    }

    /// Matches if the field starts with the text, ignoring case. An index that is `case_insensitive` is used.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // What a field completes while somebody types.
    /// assert_eq!(shop.parts.find(Part::fields().name.starts_with_ignore_case("Wa")).one().await?.name, "washer");
    /// # Ok(()) });
    /// ```
    pub fn starts_with_ignore_case(self, prefix: &str) -> Filter<P::Root>
    where
        V: Text,
    {
        Filter::pattern(P::TEXT, Pattern::prefix_ignoring_case(prefix))
    }

    /// Matches by a regular expression, in the syntax of PCRE2. Options are part of it, as in
    /// `(?i)abc`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // Names of one word.
    /// assert_eq!(shop.parts.find(Part::fields().name.regex(r"^\w+$")).count().await?, 3);
    /// # Ok(()) });
    /// ```
    pub fn regex(self, pattern: &str) -> Filter<P::Root>
    where
        V: Text,
    {
        Filter::pattern(P::TEXT, Pattern::new(pattern, ""))
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Matches if an element of the array equals the value, or if the string contains it.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part = Part::fields();
    /// assert_eq!(shop.parts.find(part.tags.contains("new")).one().await?.name, "bolt");
    /// assert_eq!(shop.parts.find(part.name.contains("ash")).one().await?.name, "washer");
    /// # Ok(()) });
    /// ```
    pub fn contains<How>(self, value: impl IntoValue<V::Item, How>) -> Filter<P::Root>
    where
        V: Contains<Item: Serialize>,
    {
        let test = raw(P::TEXT, value).and_then(|value| match value {
            RawBson::String(part) if V::SUBSTRING => Ok(Test::Regex(
                Pattern::new(&mql::escape(&part), "").map_err(mql::Error::from)?,
            )),
            element => Ok(Test::Eq(element)),
        });
        Filter::test(P::TEXT, test)
    }
}
