//! The description of existences.

use super::{ChildrenShape, DerivedShape};
use crate::model::{FieldKind, FieldShape};

/// A field that is marked `#[exists(..)]`.
pub const fn exists<T: Existence>(name: &'static str, children: ChildrenShape) -> FieldShape {
    FieldShape::new(name, FieldKind::Derived(DerivedShape::Exists(children)))
}

/// The type of an `#[exists(..)]`.
#[diagnostic::on_unimplemented(
    message = "an `#[exists(..)]` is a `bool`, not a `{Self}`",
    label = "not a `bool`"
)]
pub trait Existence {}

impl Existence for bool {}
