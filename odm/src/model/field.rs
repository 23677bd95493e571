//! Typed fields: the values behind `Model::fields()`.

use std::{convert::Infallible, marker::PhantomData, ops::Deref};

use serde::Serialize;

use super::{Path, Structure};

/// A field of a model: a value of type `V` at the path `P`.
///
/// It has no size and is `Copy`. The methods that make filters, updates and sorts of it are in the
/// documentation of [`query`](crate::query). A field of an embedded type dereferences to that type's
/// fields, also through `Option` and `Box`: `Product::fields().price.currency`. Through an array,
/// use [`any`](Field::any).
///
/// `K` is the kind of the field: [`Plain`], [`Unchecked`], [`Identity`], [`Version`],
/// [`WriteTime`] or [`Derived`].
/// An update can set the first two.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let product = Product::fields();
/// let cheap = product.price.value.lt(20.0) & product.price.currency.eq("EUR");
/// assert_eq!(shop.products.find(cheap).one().await?.name, "lamp");
/// shop.products.update(2).set(product.price.value, 21.0).await?;
/// # Ok(()) });
/// ```
pub struct Field<V, P, K = Plain>(Types<V, P, K>);

/// Types without a value: `Send`, `Sync` and `Copy` for all parameters.
type Types<V, P, K> = PhantomData<fn() -> (V, P, K)>;

impl<V, P, K> Field<V, P, K> {
    #[doc(hidden)]
    pub const NEW: Self = Field(PhantomData);
}

impl<V, P, K> Clone for Field<V, P, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V, P, K> Copy for Field<V, P, K> {}

impl<V, P: Path, K> Field<V, P, K> {
    /// The stored path, such as `price.currency`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(Product::fields().price.currency.path(), "price.currency");
    /// // For what takes names, as the fields that a request may sort by.
    /// let allowed = Product::allow([Product::fields().name.path(), Product::fields().price.path()]);
    /// assert!(allowed.sort_by("-price.value").is_ok());
    /// # Ok(()) });
    /// ```
    pub const fn path(self) -> &'static str {
        P::TEXT
    }
}

impl<V: Through, P: Path, K> Deref for Field<V, P, K> {
    type Target = <V::To as Structure>::Fields<P>;

    fn deref(&self) -> &Self::Target {
        FieldSet::fields()
    }
}

/// A field whose inner fields are stored in its place: `#[serde(flatten)]`.
///
/// It has no path of its own, and only gives access to the inner fields.
pub struct Flattened<V, P>(PhantomData<fn() -> (V, P)>);

impl<V, P> Clone for Flattened<V, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V, P> Copy for Flattened<V, P> {}

impl<V: Through, P: Path> Deref for Flattened<V, P> {
    type Target = <V::To as Structure>::Fields<P>;

    fn deref(&self) -> &Self::Target {
        FieldSet::fields()
    }
}

/// A typed field. The compiler finds its value by the type that is expected, which costs it less than a look through all methods.
pub trait TypedField {
    #[doc(hidden)]
    const TYPED: Self;
}

impl<V, P, K> TypedField for Field<V, P, K> {
    const TYPED: Self = Field(PhantomData);
}

impl<V, P> TypedField for Flattened<V, P> {
    const TYPED: Self = Flattened(PhantomData);
}

/// The fields of one type under one path, made by the derives.
pub trait FieldSet: Sized + 'static {
    #[doc(hidden)]
    const NEW: Self;

    // Not a constant `&Self::NEW`: the compiler knows only of concrete types that they have no interior mutability, and a constant of
    // each type would cost compile time.
    #[doc(hidden)]
    fn fields() -> &'static Self {
        const { assert!(size_of::<Self>() == 0) };
        // A box of a value without a size takes no memory.
        Box::leak(Box::new(Self::NEW))
    }
}

/// A value whose fields can be named through it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no fields that can be named",
    label = "not an embedded value",
    note = "derive `Embed` for it; the elements of an array are reached by `.any(|element| ..)`"
)]
pub trait Through {
    /// The type that declares the fields.
    type To: Structure;
}

impl<T: Through> Through for Option<T> {
    type To = T::To;
}

impl<T: Through> Through for Box<T> {
    type To = T::To;
}

/// The kind of a field of base data, which can be set.
pub struct Plain;
/// The kind of a field of references that may dangle: `unchecked`.
pub struct Unchecked;
/// The kind of the field `_id`, which never changes.
pub struct Identity;
/// The kind of the field that counts the changes of a document.
pub struct Version;
/// The kind of a field that holds the time of a write: `#[created_at]`, `#[updated_at]`.
pub struct WriteTime;
/// The kind of a field that is derived from other documents, and read-only.
pub struct Derived;

/// The kinds of fields that an update may change.
#[diagnostic::on_unimplemented(
    message = "this field cannot be changed by an update",
    label = "an `_id`, a version, the time of a write or a derived field",
    note = "an `_id` never changes; a `#[version]`, `#[created_at]` or `#[updated_at]` is set automatically; a \
            derived field is computed from its source"
)]
pub trait Settable {}

impl Settable for Plain {}
impl Settable for Unchecked {}

/// The value of a field that serde stores in a form of its own: `#[serde(with = "..")]`.
///
/// Only the field's functions know the form. So such a field has a path, and a filter can test whether it exists, but it cannot be compared
/// with or set to a `T`.
///
/// There are no values of it.
pub struct StoredOtherwise<T>(Infallible, PhantomData<fn() -> T>);

// Otherwise the message would name a missing bound instead of a missing value of the type.
impl<T> Serialize for StoredOtherwise<T> {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        match self.0 {}
    }
}
