//! A reference of a document itself, along which a field is derived.

use std::marker::PhantomData;

use crate::model::{Document, Field, Path, Ref};

/// A reference to at most one document, whose type is known before that of the field that is derived along it, so that an error names the
/// right one.
pub struct AlongReference<V> {
    pub(super) path: &'static str,
    /// Whether a document can lack it.
    pub(super) optional: bool,
    of: PhantomData<fn() -> V>,
}

/// The reference along which a field is derived.
#[track_caller]
pub const fn along<V: ReferenceToOne, P: Path, K>(_: Field<V, P, K>) -> AlongReference<V> {
    assert!(
        !P::COLD,
        "the reference is in the cold part of its document, which a derived field cannot read: move it to the document itself"
    );
    AlongReference {
        path: P::TEXT,
        optional: P::OPTIONAL,
        of: PhantomData,
    }
}

/// The type of a reference to at most one document.
#[diagnostic::on_unimplemented(
    message = "the field follows from one document, and `{Self}` is no reference to one",
    label = "expected a field that is a `Ref` or an `Option` of one"
)]
pub trait ReferenceToOne {}

impl<M: Document> ReferenceToOne for Ref<M> {}
impl<M: Document> ReferenceToOne for Option<Ref<M>> {}
