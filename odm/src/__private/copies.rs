//! Copies of fields of other documents: what they may be copies of, and of which type they are.

use std::marker::PhantomData;

use super::{Followed, RefersTo};
use crate::model::{
    Container, Copied, CopyShape, Derived, Document, EmbedField, Field, FieldKind, FieldShape,
    Identity, Outline, Path, Plain, ReferenceField, Structure, Unchecked, Version, Via,
};

/// A field that can be copied, as far as its place tells.
#[diagnostic::on_unimplemented(
    message = "a flattened field has no value of its own to copy",
    label = "go on to one of its fields"
)]
pub trait OriginalField: Copy {
    /// The type of its value.
    type Value;
    /// Where it is.
    type Path: Path;
    /// Why it cannot be copied, if that is so.
    const REFUSED: Option<&'static str>;
}

impl<V, P: Path, K: Kind> OriginalField for Field<V, P, K> {
    type Value = V;
    type Path = P;
    const REFUSED: Option<&'static str> = K::REFUSED;
}

/// The kinds of fields.
pub trait Kind {
    /// Why they cannot be copied, if that is so.
    const REFUSED: Option<&'static str> = None;
}

impl Kind for Plain {}
impl Kind for Unchecked {}
impl Kind for Derived {}
impl Kind for Identity {
    const REFUSED: Option<&'static str> =
        Some("an `_id` is what the reference holds already: there is nothing to copy");
}
impl Kind for Version {
    const REFUSED: Option<&'static str> =
        Some("a version changes with every write, and cannot be copied");
}

/// A copy that is being described, of the field `F`.
pub struct Original<F> {
    source: &'static str,
    problem: Option<&'static str>,
    of: PhantomData<fn() -> F>,
}

/// A copy of a field of `M`. What is wrong with it is noted, and reported by [`check`]: were this to
/// fail, so would all that is made of it.
pub const fn copied<M: Document, F: OriginalField>(_: F) -> Original<F> {
    let mut problem = F::REFUSED;
    if F::Path::COLD {
        problem = Some("what is stored apart from its document cannot be copied");
    }
    Original {
        source: M::COLLECTION,
        problem,
        of: PhantomData,
    }
}

impl<F: OriginalField> Original<F> {
    /// The copy has the type of its source.
    pub const fn copied_as<T: CopyOf<F::Value>>(self) -> Self {
        self
    }

    /// The copies of many are a list of values of the type of the source.
    pub const fn listed_as<T: CopiesOf<F::Value>>(self) -> Self {
        self
    }

    /// Something that must hold. What was wrong first is reported.
    pub const fn where_(mut self, holds: bool, problem: &'static str) -> Self {
        if !holds && self.problem.is_none() {
            self.problem = Some(problem);
        }
        self
    }

    /// A copy along a reference in the same struct.
    pub const fn along(self, beside: Beside, declared: Declared) -> Copied {
        // A list is as absent as its type says; what is around it is another matter.
        let absent = F::Path::WITHIN_OPTIONAL || (F::Path::OPTIONAL && !declared.optional);
        let original = self
            .where_(
                !beside.many,
                "a list of references has no place for copies: make it a list of links, an \
                 embedded struct with the reference and its copies",
            )
            .where_(
                declared.none || !beside.optional,
                "where the reference is `None` there is nothing to copy: make the copy an `Option` \
                 too",
            )
            .where_(
                declared.none || !absent,
                "the source can be absent from its document: make the copy an `Option`",
            );
        original.with(Via::Beside(beside.path), declared)
    }

    /// The copies from all documents that refer to the holder.
    pub const fn along_back(self, back: Back, declared: Declared) -> Copied {
        self.with(Via::Back(back.path), declared)
    }

    const fn with(self, via: Via, declared: Declared) -> Copied {
        Copied {
            shape: CopyShape {
                source: self.source,
                path: F::Path::TEXT,
                via,
                frozen: declared.frozen,
                optional: declared.none,
            },
            problem: self.problem,
        }
    }
}

/// Reports what is wrong with a copy, where it is declared.
#[track_caller]
pub const fn check<S: Structure>(position: usize) {
    if let Some(problem) = S::COPIES[position].1.problem {
        panic!("{}", problem);
    }
}

/// The type of a copy of a `V`.
#[diagnostic::on_unimplemented(
    message = "a copy must have the type of its source: this one is `{Self}`, the source is `{V}`",
    label = "expected `{V}`, or an `Option` of it"
)]
pub trait CopyOf<V> {
    /// A copy of the value.
    fn copy_of(value: V) -> Self;
}

impl<T> CopyOf<T> for T {
    fn copy_of(value: T) -> T {
        value
    }
}

impl<T> CopyOf<T> for Option<T> {
    fn copy_of(value: T) -> Option<T> {
        Some(value)
    }
}

/// What a link holds of the document that it leads to.
pub fn from_source<V: Clone, T: CopyOf<V>>(value: &V) -> T {
    T::copy_of(value.clone())
}

/// The type of the copies of several `V`.
#[diagnostic::on_unimplemented(
    message = "the copies of several documents are a `Vec` of the type of their source: this one is \
               `{Self}`, the source is `{V}`",
    label = "expected `Vec<{V}>`"
)]
pub trait CopiesOf<V> {}

impl<T> CopiesOf<T> for Vec<T> {}

/// The reference beside a copy.
pub struct Beside {
    path: &'static str,
    optional: bool,
    many: bool,
}

/// A reference to `M` in the struct of the copy.
pub const fn beside<M, V: RefersTo<M> + ReferenceField, P: Path, K>(_: Field<V, P, K>) -> Beside {
    Beside {
        path: P::TEXT,
        optional: matches!(V::CONTAINER, Container::Optional),
        many: matches!(V::CONTAINER, Container::Many),
    }
}

/// A reference in the source that leads to the holder of the copy.
pub struct Back {
    path: &'static str,
}

/// A reference to `M` in the source.
pub const fn back<M, V: RefersTo<M>, P: Path, K>(_: Field<V, P, K>) -> Back {
    Back { path: P::TEXT }
}

/// What the type of a copy and its attribute say.
pub struct Declared {
    /// It is an `Option`.
    pub none: bool,
    /// It is an `Option` or a list.
    pub optional: bool,
    /// It keeps the value of the time of writing.
    pub frozen: bool,
}

/// A field that is marked `#[denormalize(..)]`: one of the copies of its struct.
pub const fn copy<S: Structure>(position: usize) -> FieldShape {
    let (name, copied) = &S::COPIES[position];
    FieldShape {
        name,
        kind: FieldKind::Copy(copied.shape),
    }
}

/// Whether there is one value behind a field, or none: a copy has one source.
pub const fn is_single<F: Followed>(_: F) -> bool {
    matches!(F::CONTAINER, Container::One | Container::Optional)
}

/// What is in an embedded value.
pub const fn outline<T: EmbedField>() -> &'static Outline {
    <T::Value as Structure>::OUTLINE
}

/// Whether there are references in a value.
pub const fn holds_references(outline: &Outline) -> bool {
    let mut found = outline.references;
    let mut i = 0;
    while !found && i < outline.embedded.len() {
        found = holds_references(outline.embedded[i].1);
        i += 1;
    }
    found
}

/// Whether there are references or copies in a value.
pub const fn holds_relations(outline: &Outline) -> bool {
    if outline.references || !outline.copies.is_empty() {
        return true;
    }
    let mut i = 0;
    while i < outline.embedded.len() {
        if holds_relations(outline.embedded[i].1) {
            return true;
        }
        i += 1;
    }
    false
}
