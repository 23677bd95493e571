//! Relations between models, as bounds that the compiler checks.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use super::{Container, Document, Embed, Known, MapKey, Path, Ref};

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
    note = "derive `Embed` for the value; a scalar, also in a struct around it, needs no `#[embed]`, and a document is \
            not embedded but referenced, by a `Ref`"
)]
pub trait EmbedField: Known {
    /// The embedded value.
    type Value: Embed;
    /// The containers around it.
    const CONTAINER: Container;
    /// The parent of its holder: the document that the only `#[reference(parent)]` of the embedded value
    /// references, else [`NoParent`].
    #[doc(hidden)]
    type Parent;
    /// The path of that reference, in a value at `P`.
    #[doc(hidden)]
    type ParentPath<P: Path>: Path;
    /// Whether a parent has at most one such child.
    #[doc(hidden)]
    type ParentCardinality;
}

/// States that the parent in an embedded value is `X`, with the cardinality `K`. It is a bound with a parameter, so that the compiler does
/// not check it where the value is declared, and reports a type that is no embedded value once.
#[doc(hidden)]
pub trait ParentIn<X, K> {
    /// The same as in [`EmbedField`].
    type ParentPath<P: Path>: Path;
}

impl<T: EmbedField> ParentIn<T::Parent, T::ParentCardinality> for T {
    type ParentPath<P: Path> = T::ParentPath<P>;
}

/// The type of a field that is marked `#[reference(..)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no reference",
    label = "expected `Ref<T>`, `Option<Ref<T>>` or `Vec<Ref<T>>`"
)]
pub trait ReferenceField {
    /// The document that it references.
    type Target: Document;
    /// The containers around it.
    const CONTAINER: Container;
    /// A reference to one document.
    #[doc(hidden)]
    fn to(document: &Self::Target) -> Self;
}

/// The parent of the holder of embedded values without exactly one `#[reference(parent)]`.
#[doc(hidden)]
pub struct NoParent;

impl<T: Document> ReferenceField for Ref<T> {
    type Target = T;
    const CONTAINER: Container = Container::One;

    fn to(document: &T) -> Self {
        Ref::from(document)
    }
}

impl<T: Document> ReferenceField for Option<Ref<T>> {
    type Target = T;
    const CONTAINER: Container = Container::Optional;

    fn to(document: &T) -> Self {
        Some(Ref::from(document))
    }
}

impl<T: Document> ReferenceField for Vec<Ref<T>> {
    type Target = T;
    const CONTAINER: Container = Container::Many;

    fn to(document: &T) -> Self {
        vec![Ref::from(document)]
    }
}

macro_rules! containers {
    ($($container:ident<T $(, $param:ident)?>: $kind:ident)*) => {$(
        impl<D, T: RefersWithin<D>, $($param)?> RefersWithin<D> for $container<T $(, $param)?> {}
        impl<T: EmbedField, $($param)?> EmbedField for $container<T $(, $param)?> {
            type Value = T::Value;
            const CONTAINER: Container = T::CONTAINER.within(Container::$kind);
            type Parent = T::Parent;
            type ParentPath<P: Path> = T::ParentPath<P>;
            type ParentCardinality = T::ParentCardinality;
        }
    )*};
}
containers!(Option<T>: Optional Box<T>: One Vec<T>: Many VecDeque<T>: Many BTreeSet<T>: Many
    HashSet<T, S>: Many);

/// The keys of a map are not known, so that no path leads to the references in it.
macro_rules! maps {
    ($($map:ident<K, T $(, $param:ident)?>)*) => {$(
        impl<D, K, T: RefersWithin<D>, $($param)?> RefersWithin<D> for $map<K, T $(, $param)?> {}
        impl<K: MapKey, T: EmbedField, $($param)?> EmbedField for $map<K, T $(, $param)?> {
            type Value = T::Value;
            const CONTAINER: Container = T::CONTAINER.within(Container::Map);
            type Parent = NoParent;
            type ParentPath<P: Path> = P;
            type ParentCardinality = ();
        }
    )*};
}
maps!(BTreeMap<K, T> HashMap<K, T, S>);

/// A document with exactly one `#[reference(parent)]` field to `P`: its own, or the only one of an embedded value.
///
/// `K` says whether a parent has at most one such child: `#[reference(parent, one)]`.
/// `N` is the position of the field. It is inferred, and distinguishes several parents for the compiler, even if their types are aliases.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no single `#[reference(parent)]` field to `{P}`",
    label = "not a child of `{P}`",
    note = "where there are several, name one: `find(Child::fields().parent.eq(&parent))` in a query, \
            `via = \"parent\"` in a derived field"
)]
pub trait ChildOf<P, K, const N: usize> {
    /// The stored path of the reference.
    #[doc(hidden)]
    const PATH: &'static str;
}

/// A document with children of `C`: [`ChildOf`] as a bound on the parent.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{C}` has no single `#[reference(parent)]` field to `{Self}`",
    label = "not the parent of a `{C}`",
    note = "where there are several, name one: `find(Child::fields().parent.eq(&parent))` in a query, \
            `via = \"parent\"` in a derived field"
)]
pub trait ParentOf<C, K, const N: usize>: Document {
    /// The stored path of the reference.
    const PATH: &'static str;
}

#[diagnostic::do_not_recommend]
impl<P: Document, C: ChildOf<P, K, N>, K, const N: usize> ParentOf<C, K, N> for P {
    const PATH: &'static str = C::PATH;
}
