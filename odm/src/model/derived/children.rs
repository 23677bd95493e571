//! The description of the children that a field is computed from.

use std::marker::PhantomData;

use odm_mql as mql;
use odm_store::Result;

use crate::model::{DerivedReads, Document, Field, Path, ShownNames};

/// The children that a field of their parent is computed from.
#[derive(Debug, Clone, Copy)]
pub struct ChildrenShape {
    /// Their collection.
    pub collection: &'static str,
    /// The stored path of their reference to the holder.
    pub via: &'static str,
    /// The children that count; all by default.
    pub filter: Option<fn() -> Result<mql::Filter>>,
    /// Whether the field follows the children after the unit that changes them: `refresh = "later"`.
    pub deferred: bool,
}

/// The children in the documents of a model.
pub const fn children<C: Document>(
    via: &'static str,
    filter: Option<fn() -> Result<mql::Filter>>,
    deferred: bool,
) -> ChildrenShape {
    ChildrenShape {
        collection: C::COLLECTION,
        via,
        filter,
        deferred,
    }
}

/// The reads of the children of a field, without their paths.
pub const fn child_reads<C: Document>() -> DerivedReads {
    DerivedReads {
        collection: C::HASH,
        paths: &[],
        names: Some(ShownNames::NONE),
    }
}

/// A field of the children, whose type is known before that of the field that is computed from it, so that an error names both.
pub struct ChildField<V, P>(PhantomData<fn() -> (V, P)>);

/// The field of the children that a field reads.
#[track_caller]
pub const fn child_field<V, P: Path, K>(_: Field<V, P, K>) -> ChildField<V, P> {
    assert!(
        !P::COLD,
        "the field is in the cold part of its document, which a derived field cannot read: move it to the document itself"
    );
    ChildField(PhantomData)
}
