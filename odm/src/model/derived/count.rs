//! The description of counts.

use serde::Serialize;

use super::{ChildrenShape, DerivedShape};
use crate::model::{FieldKind, FieldShape};

/// A field that is marked `#[count(..)]`.
pub const fn count<T: Counter>(name: &'static str, children: ChildrenShape) -> FieldShape {
    FieldShape::new(name, FieldKind::Derived(DerivedShape::Count(children)))
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
