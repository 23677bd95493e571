//! The description of computed fields.

use odm_mql::formula::{Expression, ValueType};

use super::DerivedShape;
use crate::model::{FieldKind, FieldShape, Known};

/// A value computed from fields beside it.
#[derive(Debug, Clone, Copy)]
pub struct ComputedShape {
    /// The expression, with the stored paths of the fields from the struct on that has them.
    pub expression: fn() -> Expression,
    /// The type of its value.
    pub result: fn() -> ValueType,
}

/// A field that is marked `#[computed(..)]`, of the stored type `T`. The function has the expression as it is written, for the compiler to
/// check its types, and is never called.
pub const fn computed<T: Known, S, R>(
    name: &'static str,
    _: fn(&S) -> R,
    expression: fn() -> Expression,
) -> FieldShape {
    let result = T::value_type;
    let shape = DerivedShape::Computed(ComputedShape { expression, result });
    FieldShape::new(name, FieldKind::Derived(shape))
}
