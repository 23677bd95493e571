//! Conditions on, and changes of, single elements of lists and entries of maps.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicUsize, Ordering},
};

use odm_mql::{self as mql, ArrayFilter, Operation};
use odm_store::{Error, ErrorKind, Result};
use serde::Serialize;

use super::{Filter, Sort, Update};
use crate::model::{
    ElementValue, Field, IntoValue, Is, List, Map, Path, Settable, references, to_raw_at,
};

/// Joins the path of a value and a path within it: `lines.0` and `quantity`. The path of the value itself is empty.
fn join(outer: &str, inner: &str) -> Cow<'static, str> {
    match inner.is_empty() {
        true => outer.to_owned().into(),
        false => format!("{outer}.{inner}").into(),
    }
}

/// The path of an entry of the map at a path.
fn entry_path(map: &str, key: &str) -> Result<String> {
    if key.is_empty() || key.starts_with('$') || key.contains(['.', '\0']) {
        let message = format!(
            "no path leads to the entry {key:?} of `{map}`: the key is empty, begins with `$`, or has a dot or a NUL in it; \
             read and write the whole map"
        );
        return Err(Error::new(ErrorKind::InvalidQuery, message));
    }
    Ok(format!("{map}.{key}"))
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Matches if the element at a position of the array, from 0 on, matches the whole filter.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let order = Order::fields();
    /// let first = order.lines.at(0, |line| line.product.eq(1));
    /// assert_eq!(shop.orders.find(first).count().await?, 2);
    /// assert_eq!(shop.parts.find(Part::fields().tags.at(1, |tag| tag.eq("steel"))).one().await?.name, "bolt");
    /// # Ok(()) });
    /// ```
    pub fn at<F>(self, position: usize, filter: F) -> Filter<P::Root>
    where
        V: List<Item: ElementValue>,
        F: FnOnce(&'static <V::Item as ElementValue>::Fields) -> Filter<V::Item>,
    {
        let element = filter(<V::Item as ElementValue>::fields());
        within(element, &format!("{}.{position}", P::TEXT))
    }

    /// Matches if the map has an entry of this key whose value matches the whole filter:
    /// `product.names.entry("en", |name| name.starts_with("B"))`.
    ///
    /// A key that is empty, begins with `$` or has a dot in it is an error when the query runs.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let german = Product::fields().names.entry("de", |name| name.starts_with("R"));
    /// assert_eq!(shop.products.find(german).one().await?.name, "shelf");
    /// # Ok(()) });
    /// ```
    pub fn entry<F>(self, key: impl AsRef<str>, filter: F) -> Filter<P::Root>
    where
        V: Map<Item: ElementValue>,
        F: FnOnce(&'static <V::Item as ElementValue>::Fields) -> Filter<V::Item>,
    {
        let value = filter(<V::Item as ElementValue>::fields());
        match entry_path(P::TEXT, key.as_ref()) {
            Ok(path) => within(value, &path),
            Err(error) => Filter::from_mql(Err(error)),
        }
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Sorts by the value of the map's entry of this key: `product.names.sort_by_entry("en", |name| name.asc())`. A document without it
    /// counts as having null there.
    ///
    /// A key that is empty, begins with `$` or has a dot in it is an error when the query runs.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let german = Product::fields().names.sort_by_entry("de", |name| name.desc());
    /// assert_eq!(shop.products.all().sort(german).first().await?.unwrap().name, "table");
    /// # Ok(()) });
    /// ```
    pub fn sort_by_entry<S>(self, key: impl AsRef<str>, sort: S) -> Sort<P::Root>
    where
        V: Map<Item: ElementValue>,
        S: FnOnce(&'static <V::Item as ElementValue>::Fields) -> Sort<V::Item>,
    {
        let value = sort(<V::Item as ElementValue>::fields()).into_mql();
        let moved = entry_path(P::TEXT, key.as_ref())
            .and_then(|path| Ok(value?.moved_to(&|inner| join(&path, inner))));
        Sort::from_mql(moved)
    }
}

/// Converts a filter of values at a path into a filter of the documents that they are in.
fn within<T, M>(filter: Filter<T>, path: &str) -> Filter<M> {
    Filter::from_mql(filter.into_mql().and_then(|filter| moved(filter, path)))
}

fn moved(filter: mql::Filter, path: &str) -> Result<mql::Filter> {
    filter.moved_to(&|inner| join(path, inner)).ok_or_else(|| {
        let message = format!(
            "filter of the value at `{path}` by an expression or a schema, which is about whole documents"
        );
        Error::new(ErrorKind::InvalidQuery, message)
    })
}

impl<M, T> Update<M, T> {
    /// Makes changes of all elements of the array that match the filter: `$[element]` with an array filter in MongoDB.
    /// `Filter::all()` selects all elements.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let more = shop.orders.update(1).update_each(
    ///     Order::fields().lines,
    ///     |line| line.product.eq(2),
    ///     |line, changes| changes.inc(line.quantity, 5),
    /// );
    /// let order = more.returning().await?;
    /// assert_eq!((order.lines[0].quantity, order.lines[1].quantity), (2, 6));
    /// # Ok(()) });
    /// ```
    pub fn update_each<V, P, K, F, C>(self, _: Field<V, P, K>, filter: F, changes: C) -> Self
    where
        V: List<Item: ElementValue>,
        P: Path<Root: Is<M>>,
        K: Settable,
        F: FnOnce(&'static <V::Item as ElementValue>::Fields) -> Filter<V::Item>,
        C: FnOnce(&'static <V::Item as ElementValue>::Fields, Update<V::Item>) -> Update<V::Item>,
    {
        /// Makes the names of several filters in one update differ.
        static NAMES: AtomicUsize = AtomicUsize::new(0);
        let fields = <V::Item as ElementValue>::fields();
        let name = format!("e{}", NAMES.fetch_add(1, Ordering::Relaxed));
        let path = Ok(format!("{}.$[{name}]", P::TEXT));
        let filter = filter(fields).into_mql();
        let filter = filter.and_then(|filter| moved(filter, &name));
        let filter = filter.map(|filter| ArrayFilter::new(name, filter));
        self.change_within(P::TEXT, path, changes(fields, Update::new()), Some(filter))
    }

    /// Makes changes of the element at a position of the array, from 0 on. An update of a document without such an
    /// element fails: nothing is appended.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let first = shop.orders.update(1).update_at(Order::fields().lines, 0, |line, changes| changes.set(line.quantity, 9));
    /// assert_eq!(first.returning().await?.lines[0].quantity, 9);
    /// # Ok(()) });
    /// ```
    pub fn update_at<V, P, K, C>(self, _: Field<V, P, K>, position: usize, changes: C) -> Self
    where
        V: List<Item: ElementValue>,
        P: Path<Root: Is<M>>,
        K: Settable,
        C: FnOnce(&'static <V::Item as ElementValue>::Fields, Update<V::Item>) -> Update<V::Item>,
    {
        let path = Ok(format!("{}.$[{position}]", P::TEXT));
        let changes = changes(<V::Item as ElementValue>::fields(), Update::new());
        self.change_within(P::TEXT, path, changes, None)
    }

    /// Makes changes of the value of an entry of the map. If the map has no such entry, the changes must make a complete value, else the
    /// update fails.
    ///
    /// A key that is empty, begins with `$` or has a dot in it is an error when the update runs.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let better = shop.products.update(1).update_entry(Product::fields().names, "de", |name, changes| {
    ///     changes.set(*name, "Wandregal")
    /// });
    /// assert_eq!(better.returning().await?.names["de"], "Wandregal");
    /// # Ok(()) });
    /// ```
    pub fn update_entry<V, P, K, C>(
        self,
        _: Field<V, P, K>,
        key: impl AsRef<str>,
        changes: C,
    ) -> Self
    where
        V: Map<Item: ElementValue>,
        P: Path<Root: Is<M>>,
        K: Settable,
        C: FnOnce(&'static <V::Item as ElementValue>::Fields, Update<V::Item>) -> Update<V::Item>,
    {
        let path = entry_path(P::TEXT, key.as_ref());
        let changes = changes(<V::Item as ElementValue>::fields(), Update::new());
        self.change_within(P::TEXT, path, changes, None)
    }

    /// Sets the value of an entry of the map, which is new or replaced: `.set_entry(product.names, "en", "Bolt")`.
    ///
    /// A key that is empty, begins with `$` or has a dot in it is an error when the update runs.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// shop.products.update(2).set_entry(Product::fields().names, "de", "Lampe").await?;
    /// assert_eq!(shop.products.get(2).await?.names["de"], "Lampe");
    /// # Ok(()) });
    /// ```
    pub fn set_entry<V, P, K, How>(
        self,
        _: Field<V, P, K>,
        key: impl AsRef<str>,
        value: impl IntoValue<V::Item, How>,
    ) -> Self
    where
        V: Map<Item: Serialize>,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        let value = value.into_value();
        let references = references(&value);
        let path = entry_path(P::TEXT, key.as_ref());
        let set = to_raw_at(P::TEXT, &value).map(|value| vec![("".into(), Operation::Set(value))]);
        let changes = Update::<V::Item>::of_value(set, references);
        self.change_within(P::TEXT, path, changes, None)
    }

    /// Removes the entry of the map with this key, if there is one.
    ///
    /// A key that is empty, begins with `$` or has a dot in it is an error when the update runs.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let product = shop.products.update(1).unset_entry(Product::fields().names, "de").returning().await?;
    /// assert!(product.names.is_empty());
    /// # Ok(()) });
    /// ```
    pub fn unset_entry<V, P, K>(self, _: Field<V, P, K>, key: impl AsRef<str>) -> Self
    where
        V: Map,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        let path = entry_path(P::TEXT, key.as_ref());
        let changes =
            Update::<V::Item>::of_value(Ok(vec![("".into(), Operation::Unset)]), Vec::new());
        self.change_within(P::TEXT, path, changes, None)
    }

    /// Adds the changes of values that are at a path within `outer`.
    pub(super) fn change_within<V>(
        self,
        outer: &str,
        path: Result<String>,
        changes: Update<V>,
        filter: Option<Result<ArrayFilter>>,
    ) -> Self {
        let outer: Vec<String> = outer.split('.').map(str::to_owned).collect();
        let move_to = |mut update: mql::Update| {
            let path = path?;
            // MongoDB refuses an array filter whose name no path uses.
            if !update.operations.is_empty() {
                update.array_filters.extend(filter.transpose()?);
            }
            for (inner, operation) in &mut update.operations {
                *inner = join(&path, inner);
                if let Operation::Rename(target) = operation {
                    *target = join(&path, target).into_owned();
                }
            }
            Ok(update)
        };
        self.with_changes(changes.moved(&outer, move_to))
    }
}
