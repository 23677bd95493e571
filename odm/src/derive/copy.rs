//! Copies of fields of other documents: their sources and types.

use std::marker::PhantomData;

use super::{path::Followed, reference::RefersTo};
use crate::model::{
    Container, Derived, Document, Field, Flattened, Identity, IntoValue, Native, Path, Plain,
    ReferenceField, Structure, Unchecked, Version, WriteTime,
    derived::{Copied, CopyShape, Via},
};

/// A field that a copy can name.
pub trait OriginalField: Copy {
    /// The type of its value.
    type Value;
    /// Its path.
    type Path: Path;
    /// `D`.
    type Of<D>;
    /// The reason why it cannot be copied, if there is one.
    const REFUSED: Option<&'static str>;
    /// The document itself.
    fn of<D>(document: &D) -> &Self::Of<D>;
}

impl<V, P: Path, K: Kind> OriginalField for Field<V, P, K> {
    type Value = V;
    type Path = P;
    type Of<D> = D;
    const REFUSED: Option<&'static str> = K::REFUSED;

    fn of<D>(document: &D) -> &D {
        document
    }
}

impl<V, P: Path> OriginalField for Flattened<V, P> {
    type Value = V;
    type Path = P;
    type Of<D> = D;
    const REFUSED: Option<&'static str> =
        Some("a flattened field has no value of its own to copy: go on to one of its fields");

    fn of<D>(document: &D) -> &D {
        document
    }
}

/// The document that a copy is made of. If the copy is invalid, its type is unknown, so that the compiler does not report the field once
/// more.
pub fn of_original<D, F: OriginalField>(document: &D, _: Original<F>) -> &F::Of<D> {
    F::of(document)
}

/// The kinds of fields.
pub trait Kind {
    /// The reason why they cannot be copied, if there is one.
    const REFUSED: Option<&'static str> = None;
}

impl Kind for Plain {}
impl Kind for Unchecked {}
impl Kind for Derived {}
impl Kind for WriteTime {}
impl Kind for Identity {
    const REFUSED: Option<&'static str> =
        Some("the reference already holds the `_id`: there is nothing to copy");
}
impl Kind for Version {
    const REFUSED: Option<&'static str> =
        Some("a version changes with every write, and cannot be copied");
}

/// A copy that is being described, of the field `F`.
pub struct Original<F> {
    source: &'static str,
    hash: u64,
    problem: Option<&'static str>,
    of: PhantomData<fn() -> F>,
}

/// A copy of a field of `M`. A problem is recorded here and reported by [`check`]: an error here would cause further errors in all that
/// uses it.
pub const fn copied<M: Document, F: OriginalField>(_: F) -> Original<F> {
    let mut problem = F::REFUSED;
    if F::Path::COLD {
        problem = Some("a field of a cold part cannot be copied: move it to the document itself");
    }
    Original {
        source: M::COLLECTION,
        hash: M::HASH,
        problem,
        of: PhantomData,
    }
}

impl<F: OriginalField> Original<F> {
    /// The copy has the type of its source.
    pub const fn copied_as<T: CopyOf<F::Value>>(self) -> Original<T::Of<F>> {
        Original {
            source: self.source,
            hash: self.hash,
            problem: self.problem,
            of: PhantomData,
        }
    }

    /// Several copies are a list of values of the type of the source.
    pub const fn listed_as<T: CopiesOf<F::Value>>(self) -> Self {
        self
    }

    /// A condition. The first that does not hold is reported.
    pub const fn where_(mut self, holds: bool, problem: &'static str) -> Self {
        if !holds && self.problem.is_none() {
            self.problem = Some(problem);
        }
        self
    }

    /// A copy along a reference in the same struct.
    pub const fn along(self, beside: Beside, declared: Declared) -> Copied {
        // The type of a list decides whether it can be absent itself; an `Option` around it counts separately.
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
                declared.none || !declared.unchecked,
                "an `unchecked` reference can dangle, and then there is nothing to copy: make the \
                 copy an `Option`",
            )
            .where_(
                declared.none || !absent,
                "the source can be absent from its document: make the copy an `Option`",
            );
        original.with(Via::Beside(beside.path), declared)
    }

    /// The copies from all documents that refer to the holder.
    pub const fn along_back(self, back: Back, declared: Declared) -> Copied {
        let original = self.where_(
            !back.cold,
            "a reference in a cold part cannot be followed backwards: move it to the document itself",
        );
        original.with(Via::Back(back.path), declared)
    }

    const fn with(self, via: Via, declared: Declared) -> Copied {
        let original = self.where_(
            declared.none || !declared.skipped,
            "a copy that is no `Option` is always stored: remove `skip_serializing_if`",
        );
        Copied {
            shape: CopyShape {
                source: original.source,
                path: F::Path::TEXT,
                via,
                frozen: declared.frozen,
                optional: declared.none,
                deferred: declared.deferred,
            },
            source: original.hash,
            value: F::Path::HASH,
            problem: original.problem,
        }
    }
}

/// Reports the problem of a copy, where it is declared.
#[track_caller]
pub const fn check<S: Structure>(position: usize) {
    if let Some(problem) = S::COPIES[position].2.problem {
        panic!("{}", problem);
    }
}

/// The type of a copy of a `V`.
#[diagnostic::on_unimplemented(
    message = "a copy must have the type of its source: this one is `{Self}`, the source is `{V}`",
    label = "expected `{V}`, or an `Option` of it"
)]
pub trait CopyOf<V> {
    /// `F`.
    type Of<F>;
    /// A copy of the value.
    fn copy_of(value: V) -> Self;
}

impl<T> CopyOf<T> for T {
    type Of<F> = F;

    fn copy_of(value: T) -> T {
        value
    }
}

impl<T> CopyOf<T> for Option<T> {
    type Of<F> = F;

    fn copy_of(value: T) -> Option<T> {
        Some(value)
    }
}

#[diagnostic::do_not_recommend]
impl<T> CopyOf<Native<T>> for Native<Option<T>> {
    type Of<F> = F;

    fn copy_of(value: Native<T>) -> Self {
        Some(value.into_inner()).into_value()
    }
}

/// The copy in a link of a field of the referenced document.
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
#[diagnostic::do_not_recommend]
impl<T> CopiesOf<Native<T>> for Native<Vec<T>> {}

/// The reference beside a copy.
pub struct Beside {
    path: &'static str,
    optional: bool,
    many: bool,
}

/// The type of a reference that a copy follows to a `P`.
#[diagnostic::on_unimplemented(
    message = "no reference to follow: `{Self}` beside this copy does not reference a `{P}`",
    label = "the reference beside the copy is to another document",
    note = "put a `Ref<{P}>` with `#[reference(..)]` beside the copy; in a document, \
            `via = \"{P}.field\"` follows references of `{P}` to this document"
)]
pub trait Follows<P>: ReferenceField {}

#[diagnostic::do_not_recommend]
impl<P, V: RefersTo<P> + ReferenceField> Follows<P> for V {}

/// A reference to `M` in the struct of the copy.
pub const fn beside<M, V: Follows<M>, P: Path, K>(_: Field<V, P, K>) -> Beside {
    Beside {
        path: P::TEXT,
        optional: matches!(V::CONTAINER, Container::Optional),
        many: matches!(V::CONTAINER, Container::Many),
    }
}

/// A reference of the source to the holder of the copy.
pub struct Back {
    path: &'static str,
    cold: bool,
}

/// A reference in `D`, which must be the source `S`, to `M`.
pub const fn back<M, S, D: IsSource<S>, V: RefersTo<M>, P: Path, K>(_: Field<V, P, K>) -> Back {
    Back {
        path: P::TEXT,
        cold: P::COLD,
    }
}

/// The document with the reference that a copy follows in reverse.
#[diagnostic::on_unimplemented(
    message = "the copied field is in `{S}`, and the reference to follow in `{Self}`",
    label = "write `via = \"{S}.field\"`"
)]
pub trait IsSource<S> {}

impl<S> IsSource<S> for S {}

/// The properties of a copy, from its type and its attribute.
pub struct Declared {
    /// Whether it is an `Option`.
    pub none: bool,
    /// Whether it is an `Option` or a list.
    pub optional: bool,
    /// Whether it keeps the value of the time of writing.
    pub frozen: bool,
    /// Whether the reference beside it is `unchecked`.
    pub unchecked: bool,
    /// Whether it has `skip_serializing_if`.
    pub skipped: bool,
    /// Whether it follows its source after the unit that changes it.
    pub deferred: bool,
}

/// Whether a field leads to at most one value: a copy has one source.
pub const fn is_single<F: Followed>(_: F) -> bool {
    matches!(F::CONTAINER, Container::One | Container::Optional)
}
