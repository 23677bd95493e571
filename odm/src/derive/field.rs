//! The static description of fields.

use odm_mql as mql;
use odm_store::Result;

#[cfg(any(feature = "chrono", feature = "time", feature = "jiff"))]
use crate::model::native::day::{Dated, Dates};
use crate::{
    migration::Migrations,
    model::{
        AutoId, Container, DateTime, Document, Embed, EmbedField, FieldKind, FieldShape, Model,
        Native, Outline, RefersWithin, SequenceId, Shape, ShownNames, SplitField, SplitShape,
        Structure, check_of, check_readable, native::NativeForm, schema_of,
    },
};

/// A field that is marked `#[embed]`.
pub const fn embed<T: EmbedField>(name: &'static str) -> FieldShape {
    let kind = FieldKind::Embed {
        shape: <T::Value as Structure>::shape,
        container: T::CONTAINER,
    };
    FieldShape::new(name, kind)
}

/// The stored names of an embedded value.
pub const fn shown<T: EmbedField>() -> &'static ShownNames {
    <T::Value as Structure>::SHOWN
}

/// Whether the fields of a value can be stored in its place: `#[serde(flatten)]`.
pub const fn is_flat<T: EmbedField>() -> bool {
    matches!(T::CONTAINER, Container::One | Container::Optional)
}

/// The shape of a struct that is stored as the embedded value in it.
pub fn wrapped<T: Embed>() -> &'static Shape {
    T::shape()
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
        shape: <T::Value as Structure>::shape,
        schema: schema_of::<T::Value>,
        check: check_of::<T::Value>,
        readable: check_readable::<T::Value>,
    });
    FieldShape::new(name, kind)
}

/// The filter of a subset, of a count or of an index.
pub fn declared_filter<C>(filter: fn() -> crate::query::Filter<C>) -> Result<mql::Filter> {
    filter().into_mql()
}

/// The type of a field that holds the time of a write.
#[diagnostic::on_unimplemented(
    message = "the time of a write is a `DateTime`, or an `Option` of one, not a `{Self}`",
    label = "not a date"
)]
pub trait WriteTimeField {}

impl WriteTimeField for DateTime {}
impl WriteTimeField for bson::DateTime {}
impl<T: WriteTimeField> WriteTimeField for Option<T> {}
#[diagnostic::do_not_recommend]
impl<T: NativeForm<Form: WriteTimeField>> WriteTimeField for Native<T> {}
#[cfg(any(feature = "chrono", feature = "time", feature = "jiff"))]
#[diagnostic::do_not_recommend]
impl<T: Dates> WriteTimeField for Dated<T> {}

/// Checks the type of a field that holds the time of a write.
pub const fn write_time<T: WriteTimeField>() {}

/// Makes an `_id`.
pub fn make_id<T: AutoId>() -> T {
    T::make()
}

/// The `_id` of a number of a sequence.
pub fn id_of_number<T: SequenceId>(number: i64) -> Option<T> {
    T::from_number(number)
}

/// A clone of an `_id`.
pub fn clone_id<M: Document>(id: &M::Id) -> M::Id {
    id.clone()
}

/// The model of a repository. [`complete`] checks that it has one.
pub fn describe(model: Option<fn() -> &'static Model>) -> &'static Model {
    model.expect("the model of a repository is a document")()
}

/// The models of a database.
pub fn models<const N: usize>(models: [&'static Model; N]) -> Vec<&'static Model> {
    models.into()
}

/// Returns the migrations of a database.
pub fn migrations(steps: impl FnOnce() -> Migrations) -> Migrations {
    steps()
}

/// Checks that a database has all models that one of them references.
pub const fn complete<D, M: Document<Itself: RefersWithin<D>>>() {}

/// The outline of an embedded value.
pub const fn outline<T: EmbedField>() -> &'static Outline {
    <T::Value as Structure>::OUTLINE
}

/// Whether there are references in a value.
pub const fn holds_references(outline: &Outline) -> bool {
    let mut found = outline.references;
    let mut i = 0;
    while !found && i < outline.embedded.len() {
        found = holds_references(outline.embedded[i].2);
        i += 1;
    }
    found
}

/// Whether there are values in a value that the library does not look into.
pub const fn holds_opaque(outline: &Outline) -> bool {
    outline.holds_opaque()
}

/// Whether there are references or derived fields in a value.
pub const fn holds_relations(outline: &Outline) -> bool {
    if outline.references || !outline.derived.is_empty() {
        return true;
    }
    let mut i = 0;
    while i < outline.embedded.len() {
        if holds_relations(outline.embedded[i].2) {
            return true;
        }
        i += 1;
    }
    false
}
