//! The cold part of a split document.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};

use super::{Embed, Path, RefersWithin, Through};

/// The cold part of a split document. It is stored in a collection of its own, and read only on
/// request: the one-to-one subset pattern of MongoDB's guides.
///
/// A field of this type is marked `#[split(collection = "..", key = "..")]`. The document itself
/// holds no trace of it; the cold part holds the `_id` of the document under `key`. Both are written
/// together, and a delete removes both.
///
/// A document is read without it, unless the query requests it by [`with`](crate::repository::Query::with), or
/// [`load`](crate::repository::Repository::load) reads it later. If it is not loaded, a replace does not change the stored cold part, and
/// an insert stores none. In JSON it is the value, or null if it is not loaded.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let shelf = shop.products.get(1).await?;
/// assert!(shelf.manual.get().is_none());
/// let shelf = shop.products.get(1).with(Product::fields().manual).await?;
/// assert_eq!(shelf.manual.get().unwrap().pages, 2);
///
/// // Its fields can be changed and asked for without it.
/// let pages = Product::fields().manual.pages;
/// shop.products.update(1).set(pages, 3).await?;
/// assert_eq!(shop.products.find(pages.gt(2)).one().await?.id, 1);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cold<T>(Option<Box<T>>);

impl<T> Cold<T> {
    /// Creates a loaded part, to be stored.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let manual = Manual { text: "Plug it in.".into(), pages: 1 };
    /// let mut lamp = shop.products.get(2).await?;
    /// lamp.manual = Cold::new(manual);
    /// shop.products.replace(lamp).await?;
    /// # Ok(()) });
    /// ```
    pub fn new(value: T) -> Self {
        Cold(Some(Box::new(value)))
    }

    /// Creates a part that is not loaded, and that a write does not change.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // A product is replaced, and its manual stays as it is stored.
    /// let mut lamp = shop.products.get(2).await?;
    /// lamp.manual = Cold::unloaded();
    /// shop.products.replace(lamp).await?;
    /// let lamp = shop.products.get(2).with(Product::fields().manual).await?;
    /// assert_eq!(lamp.manual.get().unwrap().pages, 2);
    /// # Ok(()) });
    /// ```
    pub const fn unloaded() -> Self {
        Cold(None)
    }

    /// Returns whether it is loaded.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut shelf = shop.products.get(1).await?;
    /// if !shelf.manual.is_loaded() {
    ///     shop.products.load(&mut shelf, Product::fields().manual).await?;
    /// }
    /// assert!(shelf.manual.is_loaded());
    /// # Ok(()) });
    /// ```
    pub const fn is_loaded(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the value, if it was loaded and there is one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let shelf = shop.products.get(1).with(Product::fields().manual).await?;
    /// let pages = shelf.manual.get().map_or(0, |manual| manual.pages);
    /// assert_eq!(pages, 2);
    /// # Ok(()) });
    /// ```
    pub fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }

    /// Returns the value to change, if it was loaded and there is one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut shelf = shop.products.get(1).with(Product::fields().manual).await?;
    /// if let Some(manual) = shelf.manual.get_mut() {
    ///     manual.pages += 1;
    /// }
    /// shop.products.replace(shelf).await?;
    /// # Ok(()) });
    /// ```
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }

    /// Returns the value, if it was loaded and there is one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let shelf = shop.products.get(1).with(Product::fields().manual).await?;
    /// let manual: Option<Manual> = shelf.manual.into_inner();
    /// assert_eq!(manual.unwrap().text, "How to use the shelf.");
    /// # Ok(()) });
    /// ```
    pub fn into_inner(self) -> Option<T> {
        self.0.map(|value| *value)
    }
}

impl<T> Default for Cold<T> {
    fn default() -> Self {
        Cold::unloaded()
    }
}

impl<T> From<T> for Cold<T> {
    fn from(value: T) -> Self {
        Cold::new(value)
    }
}

impl<T: Through> Through for Cold<T> {
    type To = T::To;
}

impl<D, T: RefersWithin<D>> RefersWithin<D> for Cold<T> {}

impl<T: Serialize> Serialize for Cold<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Cold<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Through an `Option`, so that serde reads a missing field as a part that is not loaded.
        Option::deserialize(deserializer).map(Cold)
    }
}

/// The type of a field that is marked `#[split(..)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the cold part of a document",
    label = "expected `Cold<T>`, of a struct that derives `Embed`",
    note = "where a document need not have one, write `Cold<T>` and `#[split(.., optional)]`"
)]
pub trait SplitField {
    /// The value.
    type Value: Embed + DeserializeOwned;
}

impl<T: Embed + DeserializeOwned> SplitField for Cold<T> {
    type Value = T;
}

/// A type that is `Cold<T>`, however it is written.
#[doc(hidden)]
pub trait ColdOf<T> {
    /// The cold part.
    fn cold(&mut self) -> &mut Cold<T>;
}

impl<T> ColdOf<T> for Cold<T> {
    fn cold(&mut self) -> &mut Cold<T> {
        self
    }
}

/// A document with the cold part `T` at the path `P`. The derive implements it.
#[doc(hidden)]
pub trait HasCold<P: Path, T> {
    /// The field.
    fn cold(&mut self) -> &mut Cold<T>;
}
