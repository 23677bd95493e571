//! The description of numbers within a parent.

use bson::RawBson;
use odm_store::Result;
use serde::Serialize;

use super::DerivedShape;
use crate::model::{Document, Field, FieldKind, FieldShape, Path, Ref, SequenceId, value::to_raw};

/// The number of a document within its parent.
#[derive(Debug, Clone, Copy)]
pub struct SequenceShape {
    /// The stored path of the reference to the parent.
    pub within: &'static str,
    /// A number as it is stored; `None` if it is too large for the type.
    pub number: fn(i64) -> Result<Option<RawBson>>,
    /// Whether a document can lack the number: it is an `Option`.
    pub optional: bool,
}

/// The reference to the parent of a number, whose type is known before that of the number, so that an error names the right one.
pub struct WithinParent {
    path: &'static str,
    /// Whether a document can lack it.
    optional: bool,
}

/// The reference to the parent of a number.
#[track_caller]
pub const fn within<V: ReferenceToOne, P: Path, K>(_: Field<V, P, K>) -> WithinParent {
    assert!(
        !P::COLD,
        "the reference is in the cold part of its document, which a derived field cannot read: move it to the document itself"
    );
    WithinParent {
        path: P::TEXT,
        optional: P::OPTIONAL,
    }
}

impl WithinParent {
    /// A field that is marked `#[sequence(..)]`.
    #[track_caller]
    pub const fn sequence<T: SequenceNumber>(self, name: &'static str) -> FieldShape {
        assert!(
            T::OPTIONAL || !self.optional,
            "a document without a parent has no number: let the number be an `Option`"
        );
        let shape = SequenceShape {
            within: self.path,
            number: T::stored,
            optional: T::OPTIONAL,
        };
        FieldShape::new(name, FieldKind::Derived(DerivedShape::Sequence(shape)))
    }
}

/// The type of a reference to at most one document.
#[diagnostic::on_unimplemented(
    message = "a number is within one parent, and `{Self}` is no reference to one",
    label = "expected a field that is a `Ref` or an `Option` of one"
)]
pub trait ReferenceToOne {}

impl<M: Document> ReferenceToOne for Ref<M> {}
impl<M: Document> ReferenceToOne for Option<Ref<M>> {}

/// The type of a `#[sequence(..)]`.
#[diagnostic::on_unimplemented(
    message = "a `#[sequence(..)]` is not a `{Self}`",
    label = "not an integer",
    note = "use an integer from `u16` or `i16` on, a struct around one that derives `Embed`, or an `Option` of these"
)]
pub trait SequenceNumber {
    /// Whether it is an `Option`.
    const OPTIONAL: bool;

    /// A number as it is stored; `None` if it is too large for the type.
    ///
    /// # Errors
    ///
    /// If the type cannot be stored.
    fn stored(number: i64) -> Result<Option<RawBson>>;
}

impl<T: SequenceId + Serialize> SequenceNumber for T {
    const OPTIONAL: bool = false;

    fn stored(number: i64) -> Result<Option<RawBson>> {
        let number = T::from_number(number);
        number.map(|number| to_raw(&number)).transpose()
    }
}
impl<T: SequenceId + Serialize> SequenceNumber for Option<T> {
    const OPTIONAL: bool = true;

    fn stored(number: i64) -> Result<Option<RawBson>> {
        T::stored(number)
    }
}
