//! References to documents.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    marker::PhantomData,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Described, Document, ReferenceField, hidden};

/// A reference to a document of `T`: its `_id`, stored bare.
///
/// A field of this type is marked with `#[reference(child)]` or `#[reference(parent)]`. The library
/// then checks that the document exists, and applies the delete rule when it is deleted.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let review = shop.reviews.get(4).await?;
/// let lamp = shop.products.get(review.product).await?;
/// assert_eq!(review.product, Ref::from(&lamp));
/// # Ok(()) });
/// ```
// The bounds here and on the traits below hold for all types with a derive of this library. Otherwise a reference to a type that is no
// document would be reported once for each trait that its holder implements.
pub struct Ref<T: Referable>(T::Key, PhantomData<fn() -> T>);

/// A type `T` for which `Ref<T>` is well-formed. The derives implement it: a mark on the field checks that it is a document.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a document",
    label = "not a document",
    note = "derive `Document` for it; a value inside a document derives `Embed`"
)]
pub trait Referable {
    /// The type of `_id`.
    type Key;
    /// The type that defines its stored form: the same type, or [`Native`](super::Native) of it.
    type StoredKey;

    /// The values that a request can compare an `_id` with, and its schema.
    const KEY: Described = Described::UNKNOWN;

    /// Writes an `_id`.
    fn write_key<S: Serializer>(key: &Self::Key, serializer: S) -> Result<S::Ok, S::Error>
    where
        Self::Key: Serialize,
    {
        key.serialize(serializer)
    }

    /// Reads an `_id`.
    fn read_key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Key, D::Error>
    where
        Self::Key: Deserialize<'de>,
    {
        Self::Key::deserialize(deserializer)
    }
}

/// The `_id` that a reference is made of: `Self` itself. The compiler would report an equality of types in terms of associated types.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a reference is made of an `_id`, which is of type `{Self}` here, not `{I}`",
    label = "expected the `_id`, of type `{Self}`",
    note = "of a document, it is made by `Ref::from(&document)`"
)]
pub trait IdFrom<I> {
    /// The `_id`.
    fn id_from(id: I) -> Self;
}

impl<I> IdFrom<I> for I {
    fn id_from(id: I) -> Self {
        id
    }
}

/// The type of `_id` of a type that is no document. It has no values.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NoKey {}

impl<T: Document> Ref<T> {
    /// Creates a reference to the document with this `_id`, which is a `T::Id`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let shelf: Ref<Product> = Ref::new(1);
    /// assert_eq!(shop.reviews.find(Review::fields().product.eq(shelf)).count().await?, 3);
    /// # Ok(()) });
    /// ```
    pub fn new<I>(id: I) -> Self
    where
        T::Id: IdFrom<I>,
    {
        Ref(T::Id::id_from(id), PhantomData)
    }

    /// Returns the `_id` of the document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let review = shop.reviews.get(4).await?;
    /// assert_eq!(*review.product.id(), 2);
    /// # Ok(()) });
    /// ```
    pub fn id(&self) -> &T::Id {
        &self.0
    }

    /// Returns the `_id` of the document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let id: i64 = shop.reviews.get(4).await?.product.into_inner();
    /// assert_eq!(id, 2);
    /// # Ok(()) });
    /// ```
    pub fn into_inner(self) -> T::Id {
        self.0
    }
}

impl<T: Document> From<&T> for Ref<T> {
    fn from(document: &T) -> Self {
        Ref::new(document.id().clone())
    }
}

impl<T: Referable<Key: Clone>> Clone for Ref<T> {
    fn clone(&self) -> Self {
        Ref(self.0.clone(), PhantomData)
    }
}

impl<T: Referable<Key: Copy>> Copy for Ref<T> {}

impl<T: Referable<Key: fmt::Debug>> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ref").field(&self.0).finish()
    }
}

impl<T: Referable<Key: fmt::Display>> fmt::Display for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Referable<Key: PartialEq>> PartialEq for Ref<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: Referable<Key: Eq>> Eq for Ref<T> {}

impl<T: Referable<Key: Hash>> Hash for Ref<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl<T: Referable<Key: PartialOrd>> PartialOrd for Ref<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.0.partial_cmp(&other.0)
    }
}

impl<T: Referable<Key: Ord>> Ord for Ref<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl<T: Referable<Key: Serialize>> Serialize for Ref<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hidden::note();
        T::write_key(&self.0, serializer)
    }
}

impl<'de, T: Referable<Key: Deserialize<'de>>> Deserialize<'de> for Ref<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::read_key(deserializer).map(|id| Ref(id, PhantomData))
    }
}

/// A value with exactly one reference in it: a `Ref`, or an embedded link around one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no reference, and no embedded value with exactly one reference",
    label = "cannot be followed to another document"
)]
pub trait Link {
    /// The referenced document.
    type Target: Document;
    /// `T`. It is unknown for a type that is no reference, so that the compiler does not check the rest of a query
    /// with it.
    #[doc(hidden)]
    type With<T>;
    #[doc(hidden)]
    fn with<T>(value: T) -> Self::With<T>;
    /// The path of the reference in the value; empty for the value itself.
    #[doc(hidden)]
    const PATH: &'static str;
    /// Returns the reference.
    fn target(&self) -> &Ref<Self::Target>;
}

impl<T: Document> Link for Ref<T> {
    type Target = T;
    type With<X> = X;
    const PATH: &'static str = "";

    fn with<X>(value: X) -> X {
        value
    }

    fn target(&self) -> &Ref<T> {
        self
    }
}

/// An embedded value around one reference field. The derive of `Embed` implements it; the value is a
/// [`Link`] if the field is a `Ref`.
// The message is the same as for `Link`: the compiler may report either.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no reference, and no embedded value with exactly one reference",
    label = "cannot be followed to another document"
)]
pub trait Linked {
    /// The type of the field.
    type Reference: ReferenceField;
    /// Its stored name.
    const NAME: &'static str;
    /// The field.
    fn reference(&self) -> &Self::Reference;
}

#[diagnostic::do_not_recommend]
impl<T: Document, L: Linked<Reference = Ref<T>>> Link for L {
    type Target = T;
    type With<X> = <L::Reference as Link>::With<X>;
    const PATH: &'static str = L::NAME;

    fn with<X>(value: X) -> Self::With<X> {
        <L::Reference as Link>::with(value)
    }

    fn target(&self) -> &Ref<T> {
        self.reference()
    }
}

/// A field that can be joined: one reference, an optional one, or many.
#[diagnostic::on_unimplemented(
    message = "`{Self}` holds no references that can be joined",
    label = "cannot be joined",
    note = "a join follows a `Ref`, a link with exactly one `Ref`, an `Option` or `Vec` of these, or `Ancestors`"
)]
pub trait Joinable: 'static {
    /// The document that is joined.
    type Target: Document;
    /// The result of a join for one field: a document, an `Option` or a `Vec`.
    type Shape<X: Send>: Send;
    /// `T`. It is unknown for a type that is no reference, so that the compiler does not check the rest of a query
    /// with it.
    #[doc(hidden)]
    type With<T>;
    #[doc(hidden)]
    fn with<T>(value: T) -> Self::With<T>;
    /// The path of the reference in the value; empty for the value itself.
    #[doc(hidden)]
    const PATH: &'static str;
    /// Builds the result of the documents found, in the order of the references. The error is the position of the first dangling reference,
    /// if the shape has no place for one.
    #[doc(hidden)]
    fn collect<X: Send>(found: Vec<Option<X>>) -> Result<Self::Shape<X>, usize>;
}

impl<L: Link + 'static> Joinable for L {
    type Target = L::Target;
    type Shape<X: Send> = X;
    type With<T> = L::With<T>;
    const PATH: &'static str = L::PATH;

    fn with<T>(value: T) -> L::With<T> {
        L::with(value)
    }

    fn collect<X: Send>(found: Vec<Option<X>>) -> Result<X, usize> {
        found.into_iter().next().flatten().ok_or(0)
    }
}

impl<L: Link + 'static> Joinable for Option<L> {
    type Target = L::Target;
    type Shape<X: Send> = Option<X>;
    type With<T> = L::With<T>;
    const PATH: &'static str = L::PATH;

    fn with<T>(value: T) -> L::With<T> {
        L::with(value)
    }

    fn collect<X: Send>(found: Vec<Option<X>>) -> Result<Option<X>, usize> {
        match found.into_iter().next() {
            None => Ok(None),
            Some(None) => Err(0),
            Some(found) => Ok(found),
        }
    }
}

impl<L: Link + 'static> Joinable for Vec<L> {
    type Target = L::Target;
    type Shape<X: Send> = Vec<X>;
    type With<T> = L::With<T>;
    const PATH: &'static str = L::PATH;

    fn with<T>(value: T) -> L::With<T> {
        L::with(value)
    }

    fn collect<X: Send>(found: Vec<Option<X>>) -> Result<Vec<X>, usize> {
        found
            .into_iter()
            .enumerate()
            .map(|(position, document)| document.ok_or(position))
            .collect()
    }
}
