//! Subsets: bounded arrays of children inside their parent.

use std::{ops::Deref, slice, vec};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Document, Has, List, Path, RefersWithin, Shape, Structure};

/// The first few of a document's children, in order, stored in the document: the subset pattern of
/// MongoDB's guides.
///
/// A field of this type is marked `#[subset(limit = .., sort = "..")]`. It is derived: every write
/// leaves it equal to the result of a query of the children, and a value given here is ignored. `T` is
/// the child itself, or a projection of it.
///
/// It reads like a slice, and a document that lacks it, such as one from before the field was
/// declared, reads as an empty one.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// // `#[subset(limit = 2, sort = "-published")] reviews: Subset<ReviewSummary>`
/// let shelf = shop.products.get(1).await?;
/// let texts: Vec<&str> = shelf.reviews.iter().map(|review| review.text.as_str()).collect();
/// assert_eq!(texts, ["Good", "Wobbles"]);
///
/// // A newer one comes first when its write returns.
/// # let published = "2026-04-01".parse()?;
/// shop.reviews.insert(Review { id: 5, product: Ref::new(1), stars: 1, text: "Fell down".into(), published }).await?;
/// assert_eq!(shop.products.get(1).await?.reviews[0].text, "Fell down");
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subset<T>(Vec<T>);

impl<T> Subset<T> {
    /// Creates an empty one, for a document that is not stored yet.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // For a document of which all fields are given: what stands here is computed.
    /// let lamp = shop.products.get(2).await?;
    /// let desk_lamp = Product { id: 4, name: "desk lamp".into(), reviews: Subset::new(), ..lamp };
    /// assert!(shop.products.insert(desk_lamp).await?.reviews.is_empty());
    /// # Ok(()) });
    /// ```
    pub const fn new() -> Self {
        Subset(Vec::new())
    }

    /// Returns the children, in order.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let newest: Vec<ReviewSummary> = shop.products.get(1).await?.reviews.into_vec();
    /// assert_eq!(newest.len(), 2);
    /// # Ok(()) });
    /// ```
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T> Default for Subset<T> {
    fn default() -> Self {
        Subset::new()
    }
}

impl<T> Deref for Subset<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> IntoIterator for Subset<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Subset<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T> List for Subset<T> {
    type Item = T;
}

/// An item of a subset: a document, or a projection of one.
///
/// Implemented by their derives.
#[diagnostic::on_unimplemented(
    message = "a subset cannot show `{Self}`",
    label = "neither a document nor a projection of one",
    note = "derive `Projection` for it, with `#[projection(of = \"..\")]`"
)]
pub trait SubsetItem: Structure {
    /// The child document.
    type Child;
    /// The shown fields of a child; `None` for all.
    #[doc(hidden)]
    const SHOWN: Option<fn() -> &'static Shape> = None;
    /// Whether a shown field is, or has within it, a subset.
    #[doc(hidden)]
    const NESTED: bool = false;
}

/// The type of a field that is marked `#[subset(..)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no subset",
    label = "expected `Subset<T>`, of a document or of a projection of one"
)]
pub trait SubsetField {
    /// The shown part of a child.
    type Item: SubsetItem<Child = Self::Child>;
    /// The child document.
    type Child: Document;
    /// Whether a shown field is, or has within it, a subset.
    #[doc(hidden)]
    const NESTED: bool;
}

impl<T: SubsetItem<Child: Document>> SubsetField for Subset<T> {
    type Item = T;
    type Child = T::Child;
    const NESTED: bool = T::NESTED;
}

/// A type that is `Subset<T>`, however it is written.
#[doc(hidden)]
pub trait SubsetOf<T> {
    /// The subset.
    fn subset(&self) -> &Subset<T>;
}

impl<T> SubsetOf<T> for Subset<T> {
    fn subset(&self) -> &Subset<T> {
        self
    }
}

/// A document with the subset of `T` at the path `P`. The derive implements it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the document with this subset",
    label = "expected the document whose field is named"
)]
pub trait HasSubset<P: Path, T> {
    /// The field.
    fn subset(&self) -> &Subset<T>;
}

impl<D: Has<T::Child>, T: SubsetItem> RefersWithin<D> for Subset<T> {}

impl<T: Serialize> Serialize for Subset<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Subset<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Through an `Option`, so that serde reads a missing field as an empty subset.
        Option::deserialize(deserializer).map(|children| Subset(children.unwrap_or_default()))
    }
}
