//! Paths that attributes name: the fields of a model, followed through embedded values.

use std::time::Duration;

use odm_mql::Direction;

use crate::model::{
    Cold, Container, Date, Embed, EmbedField, Expires, Field, FieldSet, Flattened, IndexField, Map,
    Ordered, Path, Root, Structure, Text,
};

/// The fields of the document that a projection is a part of. `Projection` requires it to be a document.
pub const fn fields_of<T: Structure>() -> T::Fields<Root<T>> {
    <T::Fields<Root<T>> as FieldSet>::NEW
}

/// A field whose own fields can be named in a path.
#[diagnostic::on_unimplemented(
    message = "the path goes through a value that is not embedded",
    label = "only an embedded value has fields of its own in the document"
)]
pub trait Followed: Copy {
    /// Its fields.
    type Fields: FieldSet;
    /// Their container.
    const CONTAINER: Container;
}

#[diagnostic::do_not_recommend]
impl<V: EmbedField, P: Path, K> Followed for Field<V, P, K> {
    type Fields = <V::Value as Structure>::Fields<P>;
    const CONTAINER: Container = V::CONTAINER;
}

#[diagnostic::do_not_recommend]
impl<T: Embed, P: Path, K> Followed for Field<Cold<T>, P, K> {
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

/// Whether an index can have a field of embedded values as a whole. An index of a list of them would find only elements that are equal in
/// all fields and their order, unless the elements are stored as names.
pub const fn is_indexed_whole<V: EmbedField>() -> bool {
    !matches!(V::CONTAINER, Container::Many | Container::Nested) || V::OPERAND.is_some()
}

/// A field whose text an index can fold.
#[diagnostic::on_unimplemented(
    message = "a `case_insensitive` index is of a text",
    label = "not a string: remove `case_insensitive`"
)]
pub trait IndexedText: Indexed {}

#[diagnostic::do_not_recommend]
impl<V: Text, P: Path, K> IndexedText for Field<V, P, K> {}

/// The field of an index that ignores case.
pub const fn index_text<F: IndexedText>(field: F, direction: Direction) -> IndexField {
    index_field(field, direction)
}

/// One field of an index.
pub const fn index_field<F: Indexed>(_: F, direction: Direction) -> IndexField {
    IndexField {
        path: F::PATH,
        key: None,
        direction,
        optional: F::OPTIONAL,
    }
}

/// A map whose entries an index can have.
#[diagnostic::on_unimplemented(
    message = "an index cannot end at an entry of this field",
    label = "not a map of values that have an order"
)]
pub trait IndexedEntries: Indexed {}

#[diagnostic::do_not_recommend]
impl<V: Map<Item: Ordered>, P: Path, K> IndexedEntries for Field<V, P, K> {}

/// A map whose texts an index can fold.
#[diagnostic::on_unimplemented(
    message = "a `case_insensitive` index is of a text",
    label = "not a map of strings: remove `case_insensitive`"
)]
pub trait IndexedTexts: IndexedEntries {}

#[diagnostic::do_not_recommend]
impl<V: Map<Item: Text + Ordered>, P: Path, K> IndexedTexts for Field<V, P, K> {}

/// The entry of an index that ignores case.
pub const fn index_entry_text<F: IndexedTexts>(
    field: F,
    key: &'static str,
    direction: Direction,
) -> IndexField {
    index_entry(field, key, direction)
}

/// The entry of a map as one field of an index. A document can lack it.
pub const fn index_entry<F: IndexedEntries>(
    _: F,
    key: &'static str,
    direction: Direction,
) -> IndexField {
    IndexField {
        path: F::PATH,
        key: Some(key),
        direction,
        optional: true,
    }
}

/// When documents expire, by a field that is a date.
pub const fn expires<V: Date, P: Path, K>(_: Field<V, P, K>, after: u64) -> Expires {
    Expires {
        path: P::TEXT,
        after: Duration::from_secs(after),
    }
}
