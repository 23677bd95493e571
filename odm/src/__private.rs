//! For generated code only: no part of the public API, and free to change.
//!
//! What the derives emit is data and calls of these functions, so that everything with a branch is
//! written, and tested, here and in [`model`](crate::model).

use std::{convert::Infallible, marker::PhantomData};

use crate::{
    model::{Cold, CountShape, Ordered, SplitShape, Subset, SubsetShape},
    mql,
};

mod circle;
mod copies;

pub use crate::{
    database::{Database, RepositoryField},
    model::{
        At, ById, ChildOf, Container, Copied, Derived, Document, Embed, EmbedField, Field,
        FieldKind, FieldSet, FieldShape, Flattened, Half, Has, HasHalf, HasSubset, Identity, Index,
        IndexField, IntoId, Link, Model, OnDelete, OptionalPath, Outline, Path, Plain, Projection,
        Ref, ReferenceField, ReferenceShape, RefersWithin, Related, Root, Shape, SplitField,
        Structure, SubsetField, SubsetItem, Through, Unchecked, Version,
    },
    mql::Direction,
    repository::{Any, AtMostOne},
    session::Session,
};
pub use circle::no_circle;
pub use copies::{
    Back, Beside, CopiesOf, CopyOf, Declared, Original, OriginalField, back, beside, check, copied,
    copy, from_source, holds_references, holds_relations, is_single, outline,
};
pub use serde::{Serialize, de::DeserializeOwned};
pub use std::marker::PhantomData as Phantom;

/// The value of a field that serde stores in a form of its own: `#[serde(with = "..")]`.
///
/// What the form is, only the field's functions know. So such a field has a path and can be asked
/// whether it exists, but is not compared with a `T`, nor set to one.
///
/// There are no values of it.
pub struct StoredOtherwise<T>(Infallible, PhantomData<fn() -> T>);

// So that what is missing is a value of the type, and the message says so.
impl<T> Serialize for StoredOtherwise<T> {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        match self.0 {}
    }
}

/// Asks a concrete type what it implements: an inherent constant hides the one of the trait where
/// its bound holds. For a type parameter the answer is always the trait's.
pub struct Probe<T: ?Sized>(PhantomData<T>);

/// The answers for types that implement nothing.
pub trait Unknown {
    /// It holds no references or embedded values.
    const RELATED: bool = false;
    /// It is always there.
    const OPTIONAL: bool = false;
    /// It is no `Option`.
    const NONE: bool = false;
    /// It is no embedded value.
    const EMBEDDED: bool = false;
    /// It is no subset.
    const SUBSET: bool = false;
    /// Nothing is known of what is in it.
    const OUTLINE: &'static Outline = Outline::EMPTY;
    /// It is no document, which is reported elsewhere.
    const MODEL: circle::Entry = ("", Outline::EMPTY);
}

impl<T: ?Sized> Unknown for Probe<T> {}

impl<T: ?Sized + Related> Probe<T> {
    /// It holds references or embedded values.
    pub const RELATED: bool = true;
}

impl<T: ?Sized + Absent> Probe<T> {
    /// A document can lack it, or a part of it.
    pub const OPTIONAL: bool = true;
}

impl<T> Probe<Option<T>> {
    /// It is an `Option`.
    pub const NONE: bool = true;
}

impl<T> Probe<Subset<T>> {
    /// It is a subset.
    pub const SUBSET: bool = true;
}

impl<T: EmbedField> Probe<T> {
    /// It is an embedded value, or a container of such.
    pub const EMBEDDED: bool = true;
    /// What is in the embedded value.
    pub const OUTLINE: &'static Outline = outline::<T>();
}

impl<T: Document> Probe<T> {
    /// The collection, and what is in its documents.
    pub const MODEL: circle::Entry = (T::COLLECTION, T::OUTLINE);
}

/// Values that can be absent, wholly or, as the elements of a list, for a path that goes through it.
pub trait Absent {}

impl<T> Absent for Option<T> {}
impl<T> Absent for Vec<T> {}
impl<T> Absent for std::collections::VecDeque<T> {}
impl<T> Absent for std::collections::BTreeSet<T> {}
impl<T, S> Absent for std::collections::HashSet<T, S> {}
impl<K, V> Absent for std::collections::BTreeMap<K, V> {}
impl<K, V, S> Absent for std::collections::HashMap<K, V, S> {}
impl<T: Absent> Absent for Box<T> {}

/// A field that the library does not look into.
pub const fn plain(name: &'static str) -> FieldShape {
    FieldShape {
        name,
        kind: FieldKind::Plain,
    }
}

/// A field that is marked `#[embed]`.
pub const fn embed<T: EmbedField>(name: &'static str) -> FieldShape {
    let kind = FieldKind::Embed {
        shape: <T::Value as Structure>::shape,
        container: T::CONTAINER,
    };
    FieldShape { name, kind }
}

/// Whether the fields of a value can be stored in its place: `#[serde(flatten)]`.
pub const fn is_flat<T: EmbedField>() -> bool {
    matches!(T::CONTAINER, Container::One | Container::Optional)
}

/// The shape of a struct that is stored as the embedded value in it.
pub fn wrapped<T: Embed>() -> &'static Shape {
    T::shape()
}

/// What stands in `#[reference(..)]`.
pub struct DeclaredReference {
    /// The holder is the child.
    pub parent: bool,
    /// No two documents may hold the same.
    pub one: bool,
    /// What it leads to need not exist.
    pub unchecked: bool,
    /// What a delete of that does.
    pub on_delete: Option<OnDelete>,
    /// The stored path of the other side.
    pub inverse: Option<&'static str>,
}

/// A field that is marked `#[reference(..)]`.
pub const fn reference<T: ReferenceField>(
    name: &'static str,
    declared: DeclaredReference,
) -> FieldShape {
    let kind = FieldKind::Reference(ReferenceShape {
        collection: <T::Target as Document>::COLLECTION,
        parent: declared.parent,
        one: declared.one,
        unchecked: declared.unchecked,
        container: T::CONTAINER,
        on_delete: declared.on_delete,
        inverse: declared.inverse,
    });
    FieldShape { name, kind }
}

/// The fields of the document that a reference leads to.
pub const fn target<T: ReferenceField>() -> <T::Target as Structure>::Fields<Root<T::Target>> {
    fields_of::<T::Target>()
}

/// Whether `field` of the document that a reference leads to is declared as the other side of
/// `own`.
pub const fn points_back<T: ReferenceField>(field: &str, own: &str) -> bool {
    let inverses = <T::Target as Document>::INVERSES;
    let mut i = 0;
    while i < inverses.len() {
        let (name, other) = inverses[i];
        if same(name, field) && same(other, own) {
            return true;
        }
        i += 1;
    }
    false
}

/// What stands in `#[subset(..)]`.
pub struct DeclaredSubset {
    /// How many children.
    pub limit: i64,
    /// Their order.
    pub sort: &'static [(&'static str, Direction)],
    /// The path of the reference to the holder.
    pub via: &'static str,
    /// Which children count.
    pub filter: Option<fn() -> crate::Result<mql::Filter>>,
}

/// A field that is marked `#[subset(..)]`.
pub const fn subset<T: SubsetField>(name: &'static str, declared: DeclaredSubset) -> FieldShape {
    let kind = FieldKind::Subset(SubsetShape {
        collection: <T::Child as Document>::COLLECTION,
        via: declared.via,
        limit: declared.limit,
        sort: declared.sort,
        shown: <T::Item as SubsetItem>::SHOWN,
        filter: declared.filter,
    });
    FieldShape { name, kind }
}

/// A field that is marked `#[split(..)]`.
pub const fn split<T: SplitField>(
    name: &'static str,
    collection: &'static str,
    key: &'static str,
    optional: bool,
) -> FieldShape {
    let kind = FieldKind::Split(SplitShape {
        collection,
        key,
        optional,
        shape: <T::Half as Structure>::shape,
    });
    FieldShape { name, kind }
}

/// A field that is marked `#[count(..)]`.
pub const fn count<T: Counter, C: Document>(
    name: &'static str,
    via: &'static str,
    filter: Option<fn() -> crate::Result<mql::Filter>>,
) -> FieldShape {
    let kind = FieldKind::Count(CountShape {
        collection: C::COLLECTION,
        via,
        filter,
    });
    FieldShape { name, kind }
}

/// The fields of the child that a subset shows.
pub const fn child<T: SubsetField>() -> <T::Child as Structure>::Fields<Root<T::Child>> {
    <<T::Child as Structure>::Fields<Root<T::Child>> as FieldSet>::NEW
}

/// The path of the only reference from a child to its parent.
pub const fn parent_path<C: ChildOf<P>, P: Document>() -> &'static str {
    C::PATH
}

/// The type of a field that refers to `P`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no reference to `{P}`",
    label = "does not lead to a `{P}`"
)]
pub trait RefersTo<P> {}

impl<P: Document> RefersTo<P> for Ref<P> {}
impl<P: Document> RefersTo<P> for Option<Ref<P>> {}
impl<P: Document> RefersTo<P> for Vec<Ref<P>> {}

/// The path of a reference that was named.
pub const fn path_to<P, V: RefersTo<P>, A: Path, K>(_: Field<V, A, K>) -> &'static str {
    A::TEXT
}

/// A field to sort by.
#[diagnostic::on_unimplemented(
    message = "this field has no order to sort by",
    label = "not a number, string, date, id, bool, or an `Option` of one"
)]
pub trait Sortable: Copy {
    /// Its stored path.
    const PATH: &'static str;
    /// Whether it is in a half that is stored apart.
    const COLD: bool;
}

impl<V: Ordered, P: Path, K> Sortable for Field<V, P, K> {
    const PATH: &'static str = P::TEXT;
    const COLD: bool = P::COLD;
}

/// Whether the children of a subset can be sorted by a field of the document itself.
pub const fn is_hot<F: Sortable>(_: F) -> bool {
    !F::COLD
}

/// One key of a sort.
pub const fn sort_key<F: Sortable>(_: F, direction: Direction) -> (&'static str, Direction) {
    (F::PATH, direction)
}

/// The filter of a subset or of a count.
pub fn subset_filter<C>(filter: crate::query::Filter<C>) -> crate::Result<mql::Filter> {
    filter.into_mql()
}

/// A field whose own fields can be named in a path.
#[diagnostic::on_unimplemented(
    message = "the path goes through a value that is not embedded",
    label = "only an embedded value has fields of its own in the document"
)]
pub trait Followed: Copy {
    /// Its fields.
    type Fields: FieldSet;
    /// What is around them.
    const CONTAINER: Container;
}

#[diagnostic::do_not_recommend]
impl<V: EmbedField, P: Path, K> Followed for Field<V, P, K> {
    type Fields = <V::Value as Structure>::Fields<P>;
    const CONTAINER: Container = V::CONTAINER;
}

#[diagnostic::do_not_recommend]
impl<T: crate::model::Embed, P: Path, K> Followed for Field<Cold<T>, P, K> {
    type Fields = <T as Structure>::Fields<P>;
    const CONTAINER: Container = Container::One;
}

#[diagnostic::do_not_recommend]
impl<V: EmbedField, P: Path> Followed for Flattened<V, P> {
    type Fields = <V::Value as Structure>::Fields<P>;
    const CONTAINER: Container = V::CONTAINER;
}

/// Whether the path of an index can go through a field: the keys of a map are not known.
pub const fn is_followed<F: Followed>(_: F) -> bool {
    !matches!(F::CONTAINER, Container::Map)
}

/// The fields behind a field, through options and lists.
pub const fn step<F: Followed>(_: F) -> F::Fields {
    F::Fields::NEW
}

/// A field that an index can end at.
#[diagnostic::on_unimplemented(
    message = "an index cannot end at a flattened field",
    label = "go on to one of its fields"
)]
pub trait Indexed: Copy {
    /// Its stored path.
    const PATH: &'static str;
    /// Whether a document can lack it.
    const OPTIONAL: bool;
}

impl<V, P: Path, K> Indexed for Field<V, P, K> {
    const PATH: &'static str = P::TEXT;
    const OPTIONAL: bool = P::OPTIONAL;
}

/// One field of an index.
pub const fn index_field<F: Indexed>(_: F, direction: Direction) -> IndexField {
    IndexField {
        path: F::PATH,
        direction,
        optional: F::OPTIONAL,
    }
}

/// The types of a `#[version]` and of a `#[count(..)]`.
#[diagnostic::on_unimplemented(
    message = "the library counts in an `i32`, `i64`, `u32` or `u64`, not in a value of type `{Self}`",
    label = "not an integer that is stored as one"
)]
pub trait Counter {}

impl Counter for i32 {}
impl Counter for i64 {}
impl Counter for u32 {}
impl Counter for u64 {}

/// Checks the type of a `#[version]`.
pub const fn counter<T: Counter>() {}

/// The model of a repository.
pub fn model<T: Document>() -> &'static Model {
    T::model()
}

/// Checks that a database has all models that one of them refers to.
pub const fn complete<D, M: RefersWithin<D>>() {}

/// The fields of the document that a projection is a part of. That it is a document, `Projection`
/// requires.
pub const fn fields_of<T: Structure>() -> T::Fields<Root<T>> {
    <T::Fields<Root<T>> as FieldSet>::NEW
}

/// A field of a document, as a projection shows it.
pub trait Shown: Copy {
    /// The type of its value.
    type Value;
    /// Its stored path; empty if it is flattened.
    const PATH: &'static str;
}

impl<V, P: Path, K> Shown for Field<V, P, K> {
    type Value = V;
    const PATH: &'static str = P::TEXT;
}

impl<V, P: Path> Shown for Flattened<V, P> {
    type Value = V;
    const PATH: &'static str = P::TEXT;
}

/// The field of a document whose part in a projection is being checked.
pub struct Source<F>(PhantomData<fn() -> F>);

/// Starts the check of a projection's field.
pub const fn source<F: Shown>(_: F) -> Source<F> {
    Source(PhantomData)
}

impl<F: Shown> Source<F> {
    /// The type in the projection must be the same.
    pub const fn shown_as<T: SameAs<F::Value>>(self) -> Self {
        self
    }

    /// And so must the stored name.
    pub const fn is_stored_as(self, name: &str) -> bool {
        same(F::PATH, name)
    }
}

/// Whether two texts are the same.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut equal = a.len() == b.len();
    let mut i = 0;
    while equal && i < a.len() {
        equal = a[i] == b[i];
        i += 1;
    }
    equal
}

/// The same type.
#[diagnostic::on_unimplemented(
    message = "a projection shows a field as it is: this one is `{Self}`, in the document it is `{V}`",
    label = "expected `{V}`"
)]
pub trait SameAs<V> {}

impl<T> SameAs<T> for T {}
