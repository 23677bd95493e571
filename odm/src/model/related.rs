//! Relations between models, as obligations that the compiler checks.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use super::{Container, Document, Embed, Known, MapKey, Ref};

/// A database that has a repository for `T`.
#[diagnostic::on_unimplemented(
    message = "the database `{Self}` has no repository for `{T}`, which another of its models refers to",
    label = "add a field of type `Repository<{T}>` to `{Self}`"
)]
pub trait Has<T> {}

/// A value that references only models of the database `D`.
pub trait RefersWithin<D> {}

impl<D: Has<T>, T: Document> RefersWithin<D> for Ref<T> {}

/// The type of a field that is marked `#[embed]`: an embedded value, or a container of such.
///
/// The derive of `Embed` implements it for the value itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be embedded",
    label = "not an embedded value, nor an `Option`, `Box`, list or map of such",
    note = "derive `Embed` for the value; a scalar needs no `#[embed]`, and a document is not embedded \
            but referenced, by a `Ref`"
)]
pub trait EmbedField: Known {
    /// The embedded value.
    type Value: Embed;
    /// The containers around it.
    const CONTAINER: Container;
}

/// The type of a field that is marked `#[reference(..)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no reference",
    label = "expected `Ref<T>`, `Option<Ref<T>>` or `Vec<Ref<T>>`"
)]
pub trait ReferenceField {
    /// The document that it references.
    type Target: Document;
    /// The parent of the holder, if this is a parent reference. A list has none.
    #[doc(hidden)]
    type Parent;
    /// The containers around it.
    const CONTAINER: Container;
    /// A reference to one document.
    #[doc(hidden)]
    fn to(document: &Self::Target) -> Self;
}

/// The parent of the holder of a list of references.
#[doc(hidden)]
pub struct NoParent;

impl<T: Document> ReferenceField for Ref<T> {
    type Target = T;
    type Parent = T;
    const CONTAINER: Container = Container::One;

    fn to(document: &T) -> Self {
        Ref::from(document)
    }
}

impl<T: Document> ReferenceField for Option<Ref<T>> {
    type Target = T;
    type Parent = T;
    const CONTAINER: Container = Container::Optional;

    fn to(document: &T) -> Self {
        Some(Ref::from(document))
    }
}

impl<T: Document> ReferenceField for Vec<Ref<T>> {
    type Target = T;
    type Parent = NoParent;
    const CONTAINER: Container = Container::Many;

    fn to(document: &T) -> Self {
        vec![Ref::from(document)]
    }
}

macro_rules! containers {
    ($($container:ident<$($param:ident $(: $bound:ident)?),*>: $kind:ident)*) => {$(
        impl<D, T: RefersWithin<D>, $($param),*> RefersWithin<D> for $container<$($param,)* T> {}
        impl<T: EmbedField, $($param $(: $bound)?),*> EmbedField for $container<$($param,)* T> {
            type Value = T::Value;
            const CONTAINER: Container = T::CONTAINER.within(Container::$kind);
        }
    )*};
}
containers!(Option<>: Optional Vec<>: Many Box<>: One VecDeque<>: Many BTreeSet<>: Many
    BTreeMap<K: MapKey>: Map);

impl<D, T: RefersWithin<D>, S> RefersWithin<D> for HashSet<T, S> {}
impl<T: EmbedField, S> EmbedField for HashSet<T, S> {
    type Value = T::Value;
    const CONTAINER: Container = T::CONTAINER.within(Container::Many);
}
impl<D, K, T: RefersWithin<D>, S> RefersWithin<D> for HashMap<K, T, S> {}
impl<K: MapKey, T: EmbedField, S> EmbedField for HashMap<K, T, S> {
    type Value = T::Value;
    const CONTAINER: Container = T::CONTAINER.within(Container::Map);
}

/// A document with exactly one `#[reference(parent)]` field to `P`.
///
/// `N` is the position of the field. It is inferred, and lets the compiler tell several parents apart
/// however their types are written.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no single `#[reference(parent)]` field to `{P}`",
    label = "not a child of `{P}`",
    note = "where there are several, name one: `find(Child::fields().parent.eq(&parent))`"
)]
pub trait ChildOf<P, const N: usize> {
    /// The stored path of the reference.
    #[doc(hidden)]
    const PATH: &'static str;
    /// Whether a parent has at most one such child: `#[reference(parent, one)]`.
    #[doc(hidden)]
    type Cardinality;
}

/// A document with children of `C`: that which [`ChildOf`] says, as a bound of the parent.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{C}` has no single `#[reference(parent)]` field to `{Self}`",
    label = "not the parent of a `{C}`",
    note = "where there are several, name one: `find(Child::fields().parent.eq(&parent))`"
)]
pub trait ParentOf<C, const N: usize>: Document {
    /// The stored path of the reference.
    const PATH: &'static str;
    /// The number of children that it has.
    type Cardinality;
}

#[diagnostic::do_not_recommend]
impl<P: Document, C: ChildOf<P, N>, const N: usize> ParentOf<C, N> for P {
    const PATH: &'static str = C::PATH;
    type Cardinality = C::Cardinality;
}
