//! Constants that tell which traits a type implements.

use std::marker::PhantomData;

use odm_mql::Violation;

use super::{
    cycle::ModelEntry,
    field::{outline, shown},
};
use crate::model::{
    AncestorsList, Check, Cold, Container, Described, Document, Embed, EmbedField, Inner, Known,
    Model, Native, Outline, SchemaTypes, ShownNames, Structure, Subset, ValueLocation, bare_model,
    check_of,
};

/// Finds the traits that a concrete type implements: an inherent constant hides the constant of the trait if its bound holds. For a type
/// parameter the answer is always the trait's.
pub struct Probe<T: ?Sized>(PhantomData<T>);

/// The answers for types that implement nothing.
pub trait Unknown {
    /// It holds no references or embedded values.
    const RELATED: bool = false;
    /// It is always present.
    const OPTIONAL: bool = false;
    /// It is no `Option`.
    const NONE: bool = false;
    /// It cannot be read if its field is missing.
    const FROM_NOTHING: bool = false;
    /// If flattened, it cannot be read from a document without any of its fields.
    const FLAT_FROM_NOTHING: bool = false;
    /// It is read as absent if all of its fields are missing.
    const NEVER_ABSENT: bool = false;
    /// It can be read from a document with other fields.
    const CLOSED: bool = false;
    /// It is no `Subset`.
    const SUBSET: bool = false;
    /// It is no `Ancestors`.
    const ANCESTORS: bool = false;
    /// It has no fields of its own.
    const INNER: Option<Inner> = None;
    /// It has no names of its own.
    const SHOWN: &'static ShownNames = ShownNames::NONE;
    /// It is no embedded value.
    const EMBEDDED: bool = false;
    /// Its content is unknown.
    const OUTLINE: &'static Outline = Outline::EMPTY;
    /// It is no cold part.
    const COLD: &'static Outline = Outline::EMPTY;
    /// The schema of any value, and no request compares a field of it.
    const DESCRIBED: Described = Described::UNKNOWN;
    /// No function checks values of it.
    const HAS_CHECKS: fn(&mut SchemaTypes) -> bool = |_| false;
    /// It is no document.
    const CHECK: fn() -> Option<Check> = || None;

    /// Checks nothing.
    fn check<V: ?Sized>(&self, _value: &V, _at: &ValueLocation<'_>, _found: &mut Vec<Violation>) {}

    /// It is no document, which is reported elsewhere.
    const DESCRIPTION: Option<fn() -> &'static Model> = None;
    /// It is no document, which is reported elsewhere.
    const MODEL: ModelEntry = ModelEntry::NONE;
}

impl<T: ?Sized> Unknown for Probe<T> {}

impl<T: ?Sized + Known> Probe<T> {
    /// Whether it holds references or embedded values.
    pub const RELATED: bool = T::RELATED;
    /// The schema of its values, and the values that a request can compare a field of it with.
    pub const DESCRIBED: Described = Described {
        operand: T::OPERAND,
        schema: T::schema,
    };
    /// Whether there are functions that check values of it.
    pub const HAS_CHECKS: fn(&mut SchemaTypes) -> bool = T::has_checks;

    /// Runs the functions that check values of it.
    pub fn check(&self, value: &T, at: &ValueLocation<'_>, found: &mut Vec<Violation>) {
        value.check(at, found);
    }
}

impl<T: ?Sized> Probe<T> {
    /// Gives access by a method.
    pub const NEW: Self = Probe(PhantomData);
}

impl<T: ?Sized + Absent> Probe<T> {
    /// A document can lack it, or a part of it.
    pub const OPTIONAL: bool = true;
}

impl<T> Probe<Option<T>> {
    /// It is an `Option`.
    pub const NONE: bool = true;
}

impl<T> Probe<Native<Option<T>>> {
    /// It is an `Option`.
    pub const NONE: bool = true;
}

impl<T: ?Sized + FromNothing> Probe<T> {
    /// It can be read if its field is missing.
    pub const FROM_NOTHING: bool = true;
}

macro_rules! subsets {
    ($($type:ty)*) => { $(
        impl<T> Probe<$type> {
            /// It is a `Subset`, or a copy of one or of several.
            pub const SUBSET: bool = true;
        }
    )* };
}
subsets!(Subset<T> Option<Subset<T>> Vec<Subset<T>>);

impl<T: AncestorsList> Probe<T> {
    /// It is an `Ancestors`, or a copy of one.
    pub const ANCESTORS: bool = true;
}

impl<T: EmbedField> Probe<T> {
    /// It is an embedded value, or a container of such.
    pub const EMBEDDED: bool = true;
    /// The content of the embedded value.
    pub const OUTLINE: &'static Outline = outline::<T>();
    /// Its stored names.
    pub const SHOWN: &'static ShownNames = shown::<T>();
    /// Its fields.
    pub const INNER: Option<Inner> = Some(Inner {
        shape: <T::Value as Structure>::shape,
        container: T::CONTAINER,
    });
    /// Whether it can be read, if flattened, from a document without any of its fields.
    pub const FLAT_FROM_NOTHING: bool = is_optional::<T>() || <T::Value as Structure>::FROM_NOTHING;
    /// Whether it is an `Option` that reads as a value without fields if all fields are missing.
    pub const NEVER_ABSENT: bool = is_optional::<T>() && <T::Value as Structure>::FROM_NOTHING;
    /// Whether it cannot be read from a document with other fields.
    pub const CLOSED: bool = <T::Value as Structure>::CLOSED;
}

const fn is_optional<T: EmbedField>() -> bool {
    matches!(T::CONTAINER, Container::Optional)
}

impl<T: Embed> Probe<Cold<T>> {
    /// The content of the cold part.
    pub const COLD: &'static Outline = T::OUTLINE;
}

impl<T: Document> Probe<T> {
    /// The check of its documents by functions.
    pub const CHECK: fn() -> Option<Check> = check_of::<T>;
    /// The model of a document that declares nothing but its fields.
    pub const BARE_MODEL: Model = bare_model::<T>();
    /// The description of the document.
    pub const DESCRIPTION: Option<fn() -> &'static Model> = Some(T::model);
    /// The collection, and the content of its documents.
    pub const MODEL: ModelEntry = ModelEntry {
        collection: T::COLLECTION,
        hash: T::HASH,
        outline: T::OUTLINE,
    };
}

/// Values that can be absent, as a whole or, like the elements of a list, for a path through them.
pub trait Absent {}

impl<T> Absent for Option<T> {}
impl<T> Absent for Vec<T> {}
impl<T> Absent for std::collections::VecDeque<T> {}
impl<T> Absent for std::collections::BTreeSet<T> {}
impl<T, S> Absent for std::collections::HashSet<T, S> {}
impl<K, V> Absent for std::collections::BTreeMap<K, V> {}
impl<K, V, S> Absent for std::collections::HashMap<K, V, S> {}
impl<T: Absent> Absent for Box<T> {}
impl<T: Absent> Absent for Native<T> {}

/// Values that serde can read if their field is missing.
pub trait FromNothing {}

impl<T> FromNothing for Option<T> {}
impl<T: FromNothing> FromNothing for Box<T> {}
