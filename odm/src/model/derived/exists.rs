//! The description of existences.

use odm_mql as mql;
use odm_store::Result;

use super::DerivedShape;
use crate::model::{Document, FieldKind, FieldShape};

/// Whether a document has children.
#[derive(Debug, Clone, Copy)]
pub struct ExistsShape {
    /// The collection of the children.
    pub collection: &'static str,
    /// The stored path of the children's reference to the holder.
    pub via: &'static str,
    /// The children of which there is one; all by default.
    pub filter: Option<fn() -> Result<mql::Filter>>,
    /// Whether it follows the children after the unit that changes them: `refresh = "later"`.
    pub deferred: bool,
}

/// A field that is marked `#[exists(..)]`.
pub const fn exists<T: Existence, C: Document>(
    name: &'static str,
    via: &'static str,
    filter: Option<fn() -> Result<mql::Filter>>,
    deferred: bool,
) -> FieldShape {
    let kind = FieldKind::Derived(DerivedShape::Exists(ExistsShape {
        collection: C::COLLECTION,
        via,
        filter,
        deferred,
    }));
    FieldShape::new(name, kind)
}

/// The type of an `#[exists(..)]`.
#[diagnostic::on_unimplemented(
    message = "an `#[exists(..)]` is a `bool`, not a `{Self}`",
    label = "not a `bool`"
)]
pub trait Existence {}

impl Existence for bool {}
