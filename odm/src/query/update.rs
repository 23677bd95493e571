//! Typed updates.

use std::{borrow::Cow, collections::HashMap, marker::PhantomData};

use bson::RawBson;
use odm_mql::{self as mql, End, Operation, Pull, Push};
use odm_store::{Error, ErrorKind, Result};
use serde::Serialize;

use crate::model::{
    Changes, Document, Element, Field, IntoAmount, IntoValue, Is, List, Number, Optional, Ordered,
    Path, Settable, check_references, references, to_raw_at,
};

use super::{Filter, Patch};

/// An update: changes of fields of documents of `M`, all applied at once.
///
/// `T` is the target: a document or a filter for the builders that the repository's `update` and `update_where` return, which do nothing
/// until they are awaited. A value made by [`Update::new`], which [`with`](Update::with) adds to such a builder, has no target.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let part = Part::fields();
/// shop.parts.update(1).inc(part.qty, -4).push(part.tags, "sold").await?;
///
/// // Changes that are made elsewhere, and are carried out by any update.
/// let sale = Update::new().mul(part.price, 0.5);
/// shop.parts.update_where(part.tags.contains("steel")).with(sale).await?;
/// assert_eq!(shop.parts.get(1).await?.price, 0.05);
/// # Ok(()) });
/// ```
#[must_use = "an update does nothing until it is awaited"]
pub struct Update<M, T = ()> {
    update: Result<mql::Update>,
    /// The paths of the references in the values.
    references: Vec<Vec<String>>,
    /// Whether changes were given, possibly an empty list.
    given: bool,
    /// Whether all operations are typed.
    is_typed: bool,
    pub(crate) target: T,
    model: PhantomData<fn() -> M>,
}

impl<M> Update<M> {
    /// Makes an update without changes.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part = Part::fields();
    /// let mut changes = Update::new();
    /// for tag in ["used", "cheap"] {
    ///     changes = changes.add_to_set(part.tags, tag);
    /// }
    /// shop.parts.update(3).with(changes).await?;
    /// assert_eq!(shop.parts.get(3).await?.tags, ["used", "cheap"]);
    /// # Ok(()) });
    /// ```
    pub fn new() -> Self {
        Update::with_target(())
    }
}

impl<M> Default for Update<M> {
    fn default() -> Self {
        Update::new()
    }
}

impl<M, T: Clone> Clone for Update<M, T> {
    fn clone(&self) -> Self {
        Update {
            update: self.update.clone(),
            references: self.references.clone(),
            given: self.given,
            is_typed: self.is_typed,
            target: self.target.clone(),
            model: PhantomData,
        }
    }
}

impl<M, T> std::fmt::Debug for Update<M, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.update {
            Ok(update) => write!(f, "Update({})", update.to_document()),
            Err(error) => write!(f, "Update({error})"),
        }
    }
}

impl<M, T> Update<M, T> {
    pub(crate) fn with_target(target: T) -> Self {
        Update {
            update: Ok(mql::Update::default()),
            references: Vec::new(),
            given: false,
            is_typed: true,
            target,
            model: PhantomData,
        }
    }

    /// Whether all operations are typed: it then leaves no unreadable document.
    pub(crate) fn is_typed(&self) -> bool {
        self.is_typed
    }

    pub(crate) fn into_parts(self) -> (Result<mql::Update>, T)
    where
        M: Document,
    {
        let known = check_references::<M>(self.references);
        let update = self.update.and_then(|update| known.map(|()| update));
        (update.map(merged), self.target)
    }

    /// A value for a field, as BSON. The paths of the references in it are kept.
    fn stored<V: Serialize, How>(
        &mut self,
        path: &'static str,
        value: impl IntoValue<V, How>,
    ) -> Result<RawBson> {
        let value = value.into_value();
        for within in references(&value) {
            let path = path.split('.').map(str::to_owned);
            self.references.push(path.chain(within).collect());
        }
        to_raw_at(path, &value)
    }

    /// Refuses an update to which no change was given. A caller that adds changes only under conditions gives them by
    /// [`with`](Update::with), which accepts an empty list.
    pub(crate) fn check_given(&self) -> Result<()> {
        if self.given {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::InvalidQuery,
            "update without a change: add one, as by `.set(field, value)`; to store a whole document, use \
             `replace`",
        ))
    }

    fn add(mut self, path: &'static str, operation: Result<Operation>) -> Self {
        self.given = true;
        match (&mut self.update, operation) {
            (Ok(update), Ok(operation)) => update.push(path, operation),
            (Ok(_), Err(error)) => self.update = Err(error),
            // The first mistake is reported.
            (Err(_), _) => {}
        }
        self
    }

    fn extend(mut self, more: Result<mql::Update>) -> Self {
        self.given = true;
        self.update = self.update.and_then(|mut update| {
            let more = more?;
            update.operations.extend(more.operations);
            update.array_filters.extend(more.array_filters);
            update.collation = update.collation.or(more.collation);
            Ok(update)
        });
        self
    }

    /// Adds the changes of another update, which may be empty.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// fn sold(quantity: i64) -> Update<Part> {
    ///     Update::new().inc(Part::fields().qty, -quantity).unset(Part::fields().note)
    /// }
    /// let nut = shop.parts.update(2).with(sold(3)).returning().await?;
    /// assert_eq!((nut.qty, nut.note), (2, None));
    /// # Ok(()) });
    /// ```
    pub fn with(self, changes: Update<M>) -> Self {
        self.with_changes(changes)
    }

    pub(super) fn with_changes<N>(mut self, changes: Update<N>) -> Self {
        self.references.extend(changes.references);
        self.is_typed &= changes.is_typed;
        self.extend(changes.update)
    }

    /// Sets the fields that a patch has values for; see [`Patch`].
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// #[derive(Patch)]
    /// #[patch(of = "Part")]
    /// struct PartPatch {
    ///     name: Option<String>,
    ///     price: Option<f64>,
    /// }
    /// let patch = PartPatch { name: None, price: Some(0.2) }; // the body of a PATCH
    /// let bolt = shop.parts.update(1).set_all(patch).returning().await?;
    /// assert_eq!((bolt.name.as_str(), bolt.price), ("bolt", 0.2));
    /// # Ok(()) });
    /// ```
    pub fn set_all<P: Patch<Of: Changes<M>>>(self, patch: P) -> Self {
        self.with_changes(patch.changes())
    }

    /// Adds operations in MongoDB's form. An unknown operator, or a change of a derived field, is
    /// an error when the update runs.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::bson::doc;
    ///
    /// // `$bit` has no method.
    /// shop.parts.update(2).raw(doc! { "$bit": { "qty": { "or": 8_i64 } } }).await?;
    /// assert_eq!(shop.parts.get(2).await?.qty, 13);
    /// # Ok(()) });
    /// ```
    pub fn raw(self, update: bson::Document) -> Self {
        self.raw_with(update, Vec::new())
    }

    /// Adds operations in MongoDB's form, with array filters for the `$[name]` in their paths.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::bson::doc;
    ///
    /// let double = doc! { "$mul": { "lines.$[many].quantity": 2_i64 } };
    /// let many = doc! { "many.quantity": { "$gt": 1_i64 } };
    /// let order = shop.orders.update(1).raw_with(double, vec![many]).returning().await?;
    /// assert_eq!((order.lines[0].quantity, order.lines[1].quantity), (4, 1));
    /// # Ok(()) });
    /// ```
    pub fn raw_with(mut self, update: bson::Document, array_filters: Vec<bson::Document>) -> Self {
        self.is_typed = false;
        self.extend(mql::Update::parse(&update, &array_filters).map_err(Error::from))
    }
}

impl<V> Update<V> {
    /// Operations on the value itself or its fields, in which references are at these paths.
    pub(super) fn of_value(
        operations: Result<Vec<(Cow<'static, str>, Operation)>>,
        references: Vec<Vec<String>>,
    ) -> Self {
        Update {
            references,
            ..Update::new().extend(operations.map(|operations| mql::Update {
                operations,
                ..mql::Update::default()
            }))
        }
    }

    /// Converts the changes into changes of values at a path of other documents; `outer` is without positions and keys.
    pub(super) fn moved(
        mut self,
        outer: &[String],
        move_to: impl FnOnce(mql::Update) -> Result<mql::Update>,
    ) -> Self {
        self.update = self.update.and_then(move_to);
        for reference in &mut self.references {
            reference.splice(..0, outer.iter().cloned());
        }
        self
    }
}

/// Merges several operations of one kind on one array, which MongoDB would refuse.
fn merged(mut update: mql::Update) -> mql::Update {
    let is_plain =
        |push: &Push| push.slice.is_none() && push.sort.is_none() && push.position.is_none();
    let mut first: HashMap<Cow<'static, str>, usize> = HashMap::new();
    let mut merged: Vec<(Cow<'static, str>, Operation)> = Vec::new();
    for (path, operation) in update.operations {
        let at = *first.entry(path.clone()).or_insert(merged.len());
        match (merged.get_mut(at).map(|(_, same)| same), operation) {
            (Some(Operation::Push(push)), Operation::Push(more))
                if is_plain(push) && is_plain(&more) =>
            {
                push.each.extend(more.each);
            }
            (Some(Operation::AddToSet(values)), Operation::AddToSet(more))
            | (Some(Operation::PullAll(values)), Operation::PullAll(more)) => values.extend(more),
            (_, operation) => merged.push((path, operation)),
        }
    }
    update.operations = merged;
    update
}

fn raw<V: Serialize, How>(path: &'static str, value: impl IntoValue<V, How>) -> Result<RawBson> {
    to_raw_at(path, &value.into_value())
}

impl<M, T> Update<M, T> {
    /// Sets the field to the value.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part = Part::fields();
    /// shop.parts.update(1).set(part.name, "hex bolt").set(part.note, "M4").await?;
    /// // A field of an embedded value, without the rest of it.
    /// shop.products.update(1).set(Product::fields().price.value, 45.0).await?;
    /// assert_eq!(shop.products.get(1).await?.price.currency, "EUR");
    /// # Ok(()) });
    /// ```
    pub fn set<V, P, K, How>(mut self, _: Field<V, P, K>, value: impl IntoValue<V, How>) -> Self
    where
        V: Serialize,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        let value = self.stored(P::TEXT, value);
        self.add(P::TEXT, value.map(Operation::Set))
    }

    /// Sets the field, if there is a value: for the fields of a request, any of which may be missing.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let (part, name, price) = (Part::fields(), None::<&str>, Some(0.2)); // of a request
    /// let bolt = shop.parts.update(1).set_if(part.name, name).set_if(part.price, price).returning().await?;
    /// assert_eq!((bolt.name.as_str(), bolt.price), ("bolt", 0.2));
    /// # Ok(()) });
    /// ```
    pub fn set_if<V, P, K, How>(
        mut self,
        field: Field<V, P, K>,
        value: Option<impl IntoValue<V, How>>,
    ) -> Self
    where
        V: Serialize,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        self.given = true;
        match value {
            Some(value) => self.set(field, value),
            None => self,
        }
    }

    /// Removes the field, which then reads as `None`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let nut = shop.parts.update(2).unset(Part::fields().note).returning().await?;
    /// assert_eq!(nut.note, None);
    /// # Ok(()) });
    /// ```
    pub fn unset<V, P, K>(self, _: Field<V, P, K>) -> Self
    where
        V: Optional,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        self.add(P::TEXT, Ok(Operation::Unset))
    }

    /// Adds the amount to the number. An absent `Option` becomes the amount. An unsigned number takes a negative
    /// amount; an update that would make it negative is an error.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // Two tasks at once take two, where `set` of what each has read would take one.
    /// shop.parts.update(2).inc(Part::fields().qty, -1).await?;
    /// // A rule of the model holds: `#[validate(min = 0)]`.
    /// assert!(shop.parts.update(2).inc(Part::fields().qty, -5).await.unwrap_err().is_invalid());
    /// # Ok(()) });
    /// ```
    pub fn inc<V, P, K>(self, _: Field<V, P, K>, amount: impl IntoAmount<V>) -> Self
    where
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        let amount = to_raw_at(P::TEXT, &amount.into_amount());
        self.add(P::TEXT, amount.map(Operation::Add))
    }

    /// Multiplies the number by the factor.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let result = shop.products.update_where(Filter::all()).mul(Product::fields().price.value, 2.0).await?;
    /// assert_eq!(result.modified, 3);
    /// # Ok(()) });
    /// ```
    pub fn mul<V, P, K, How>(self, _: Field<V, P, K>, factor: impl IntoValue<V, How>) -> Self
    where
        V: Serialize + Number,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        self.add(P::TEXT, raw(P::TEXT, factor).map(Operation::Mul))
    }

    /// Sets the field to the value if the value is less.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // The lowest price so far.
    /// shop.parts.update(1).min(Part::fields().price, 0.08).await?;
    /// shop.parts.update(1).min(Part::fields().price, 0.12).await?;
    /// assert_eq!(shop.parts.get(1).await?.price, 0.08);
    /// # Ok(()) });
    /// ```
    pub fn min<V, P, K, How>(self, _: Field<V, P, K>, value: impl IntoValue<V, How>) -> Self
    where
        V: Serialize + Ordered,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        self.add(P::TEXT, raw(P::TEXT, value).map(Operation::Min))
    }

    /// Sets the field to the value if the value is greater.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let delivered: DateTime = "2026-03-20".parse()?;
    /// let order = shop.orders.update(1).max(Order::fields().placed, delivered).returning().await?;
    /// assert_eq!(order.placed, delivered);
    /// # Ok(()) });
    /// ```
    pub fn max<V, P, K, How>(self, _: Field<V, P, K>, value: impl IntoValue<V, How>) -> Self
    where
        V: Serialize + Ordered,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        self.add(P::TEXT, raw(P::TEXT, value).map(Operation::Max))
    }

    /// Appends the value to the array.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let line = Line { product: Ref::new(3), quantity: 1 };
    /// let order = shop.orders.update(1).push(Order::fields().lines, line).returning().await?;
    /// assert_eq!(order.lines.len(), 3);
    /// # Ok(()) });
    /// ```
    pub fn push<V, P, K, How>(
        mut self,
        _: Field<V, P, K>,
        value: impl IntoValue<V::Item, How>,
    ) -> Self
    where
        V: List<Item: Serialize>,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        let push = self.stored(P::TEXT, value).map(|value| Push {
            each: vec![value],
            ..Push::default()
        });
        self.add(P::TEXT, push.map(Operation::Push))
    }

    /// Appends the values to the array.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part = shop.parts.update(3).push_all(Part::fields().tags, ["steel", "zinc"]).returning().await?;
    /// assert_eq!(part.tags, ["steel", "zinc"]);
    /// # Ok(()) });
    /// ```
    pub fn push_all<V, P, K, How, I>(
        mut self,
        _: Field<V, P, K>,
        values: impl IntoIterator<Item = I>,
    ) -> Self
    where
        V: List<Item: Serialize>,
        P: Path<Root: Is<M>>,
        K: Settable,
        I: IntoValue<V::Item, How>,
    {
        let each: Result<Vec<RawBson>> = values
            .into_iter()
            .map(|value| self.stored(P::TEXT, value))
            .collect();
        self.add(
            P::TEXT,
            each.map(|each| {
                Operation::Push(Push {
                    each,
                    ..Push::default()
                })
            }),
        )
    }

    /// Appends the value to the array unless it contains it.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let tags = Part::fields().tags;
    /// let part = shop.parts.update(1).add_to_set(tags, "new").add_to_set(tags, "zinc").returning().await?;
    /// assert_eq!(part.tags, ["new", "steel", "zinc"]);
    /// # Ok(()) });
    /// ```
    pub fn add_to_set<V, P, K, How>(
        mut self,
        _: Field<V, P, K>,
        value: impl IntoValue<V::Item, How>,
    ) -> Self
    where
        V: List<Item: Serialize>,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        let value = self.stored(P::TEXT, value);
        self.add(P::TEXT, value.map(|value| Operation::AddToSet(vec![value])))
    }

    /// Removes the elements equal to the value from the array.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// shop.parts.update_where(Filter::all()).pull(Part::fields().tags, "new").await?;
    /// assert_eq!(shop.parts.get(1).await?.tags, ["steel"]);
    /// # Ok(()) });
    /// ```
    pub fn pull<V, P, K, How>(self, _: Field<V, P, K>, value: impl IntoValue<V::Item, How>) -> Self
    where
        V: List<Item: Serialize>,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        self.add(
            P::TEXT,
            raw(P::TEXT, value).map(|value| Operation::PullAll(vec![value])),
        )
    }

    /// Removes the elements that match the filter from the array.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let order = shop.orders.update(1).pull_where(Order::fields().lines, |line| line.quantity.lt(2)).returning().await?;
    /// assert_eq!(order.lines.len(), 1);
    /// # Ok(()) });
    /// ```
    pub fn pull_where<V, P, K, F>(self, _: Field<V, P, K>, filter: F) -> Self
    where
        V: List<Item: Element>,
        P: Path<Root: Is<M>>,
        K: Settable,
        F: FnOnce(&'static <V::Item as Element>::Fields) -> Filter<V::Item>,
    {
        let filter = filter(<V::Item as Element>::fields()).into_mql();
        self.add(
            P::TEXT,
            filter.map(|filter| Operation::Pull(Pull::Filter(filter))),
        )
    }

    /// Removes the last element of the array.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let bolt = shop.parts.update(1).pop(Part::fields().tags).returning().await?;
    /// assert_eq!(bolt.tags, ["new"]);
    /// # Ok(()) });
    /// ```
    pub fn pop<V, P, K>(self, _: Field<V, P, K>) -> Self
    where
        V: List,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        self.add(P::TEXT, Ok(Operation::Pop(End::Last)))
    }

    /// Removes the first element of the array.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let bolt = shop.parts.update(1).pop_first(Part::fields().tags).returning().await?;
    /// assert_eq!(bolt.tags, ["steel"]);
    /// # Ok(()) });
    /// ```
    pub fn pop_first<V, P, K>(self, _: Field<V, P, K>) -> Self
    where
        V: List,
        P: Path<Root: Is<M>>,
        K: Settable,
    {
        self.add(P::TEXT, Ok(Operation::Pop(End::First)))
    }
}
