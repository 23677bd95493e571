//! The description of counts.

use odm_mql as mql;
use odm_store::Result;
use serde::Serialize;

use super::DerivedShape;
use crate::model::{Document, FieldKind, FieldShape};

/// The number of a document's children.
#[derive(Debug, Clone, Copy)]
pub struct CountShape {
    /// The collection of the children.
    pub collection: &'static str,
    /// The stored path of the children's reference to the holder.
    pub via: &'static str,
    /// The children that count; all by default.
    pub filter: Option<fn() -> Result<mql::Filter>>,
    /// Whether it follows the children after the unit that changes them: `refresh = "later"`.
    pub deferred: bool,
}

/// A field that is marked `#[count(..)]`.
pub const fn count<T: Counter, C: Document>(
    name: &'static str,
    via: &'static str,
    filter: Option<fn() -> Result<mql::Filter>>,
    deferred: bool,
) -> FieldShape {
    let kind = FieldKind::Derived(DerivedShape::Count(CountShape {
        collection: C::COLLECTION,
        via,
        filter,
        deferred,
    }));
    FieldShape::new(name, kind)
}

/// The types of a `#[version]` and of a `#[count(..)]`.
#[diagnostic::on_unimplemented(
    message = "a `#[version]` or `#[count(..)]` is an `i32`, `i64`, `u32` or `u64`, not a `{Self}`",
    label = "not an integer that is stored as one"
)]
pub trait Counter: Serialize {}

impl Counter for i32 {}
impl Counter for i64 {}
impl Counter for u32 {}
impl Counter for u64 {}
