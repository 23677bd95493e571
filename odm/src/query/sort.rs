//! Typed sorts.

use std::marker::PhantomData;

use odm_mql::{self as mql, Direction};
use odm_store::Result;

use crate::model::{Field, Ordered, Path};

/// A sort order of the documents of `M`.
///
/// It is always total: documents with equal keys are in the order of their `_id`s.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let part = Part::fields();
/// let parts = shop.parts.all().sort(part.price.desc().then(part.name.asc())).await?;
/// assert_eq!(parts[0].name, "bolt");
/// # Ok(()) });
/// ```
#[must_use = "a sort does nothing until a query uses it"]
pub struct Sort<M> {
    sort: Result<mql::Sort>,
    model: PhantomData<fn() -> M>,
}

impl<M> Sort<M> {
    /// Adds another sort as a tie-breaker.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let review = Review::fields();
    /// let best = shop.reviews.all().sort(review.stars.desc().then(review.published.desc())).await?;
    /// assert_eq!((best[0].text.as_str(), best[1].text.as_str()), ("Bright", "Solid"));
    /// # Ok(()) });
    /// ```
    pub fn then(self, other: Sort<M>) -> Sort<M> {
        Sort::from_mql(self.sort.and_then(|sort| Ok(sort.then(&other.sort?))))
    }

    /// Compares texts without regard to case, by Unicode's simple case folding: "Äpfel" stands beside "äpfel", and "ß" is no
    /// "ss". It applies to all keys of the sort, also to keys added by [`then`](Sort::then), but not to `_id`. A `case_insensitive` index
    /// gives the order.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// shop.parts.update(2).set(Part::fields().name, "Nut").await?;
    /// let by_name = Part::fields().name.asc().ignore_case().then(Part::fields().qty.desc());
    /// let parts = shop.parts.all().sort(by_name).await?;
    /// assert_eq!(parts[1].name, "Nut"); // it would stand before `bolt` by its bytes
    /// # Ok(()) });
    /// ```
    pub fn ignore_case(self) -> Sort<M> {
        Sort::from_mql(self.sort.map(mql::Sort::ignoring_case))
    }

    pub(super) fn from_mql(sort: Result<mql::Sort>) -> Self {
        Sort {
            sort,
            model: PhantomData,
        }
    }

    pub(crate) fn into_mql(self) -> Result<mql::Sort> {
        self.sort
    }
}

impl<M> Clone for Sort<M> {
    fn clone(&self) -> Self {
        Sort {
            sort: self.sort.clone(),
            model: PhantomData,
        }
    }
}

impl<M> std::fmt::Debug for Sort<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.sort {
            Ok(sort) => write!(f, "Sort({sort})"),
            Err(error) => write!(f, "Sort({error})"),
        }
    }
}

impl<V, P: Path, K> Field<V, P, K> {
    /// Sorts from the least to the greatest value. Null or missing values come first.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let parts = shop.parts.all().sort(Part::fields().qty.asc()).await?;
    /// assert_eq!(parts[0].name, "nut");
    /// # Ok(()) });
    /// ```
    pub fn asc(self) -> Sort<P::Root>
    where
        V: Ordered,
    {
        Sort::from_mql(Ok(mql::Sort::new().by(P::TEXT, Direction::Ascending)))
    }

    /// Sorts from the greatest to the least value. Null or missing values come last.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let newest = shop.reviews.all().sort(Review::fields().published.desc()).first().await?;
    /// assert_eq!(newest.unwrap().text, "Good");
    /// # Ok(()) });
    /// ```
    pub fn desc(self) -> Sort<P::Root>
    where
        V: Ordered,
    {
        Sort::from_mql(Ok(mql::Sort::new().by(P::TEXT, Direction::Descending)))
    }
}
