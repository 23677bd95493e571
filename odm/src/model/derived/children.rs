//! The description of the children that a field is computed from.

use odm_mql as mql;
use odm_store::Result;

use crate::model::Document;

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
