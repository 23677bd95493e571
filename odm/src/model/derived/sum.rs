//! The description of sums.

use bson::{Decimal128, RawBson};
use odm_mql::ExactSum;
use serde::{Deserialize, Serialize};

use super::{ChildField, ChildrenShape, DerivedShape};
use crate::model::{Addable, FieldKind, FieldShape, Path};

/// The sum of a number in the children of a document.
#[derive(Debug, Clone, Copy)]
pub struct SumShape {
    /// The children.
    pub children: ChildrenShape,
    /// The path of the number in a child.
    pub amount: &'static str,
    /// The stored type of the sum.
    pub sum: SumType,
}

/// The stored type of a sum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SumType {
    /// A whole number of 64 bits.
    Int64,
    /// A decimal.
    Decimal128,
    /// A double, the nearest to the exact sum.
    Double,
}

impl SumType {
    /// The value of a sum, if it has one of this type.
    pub(crate) fn value(self, total: &ExactSum) -> Option<RawBson> {
        match self {
            SumType::Int64 => total.to_int64().map(RawBson::Int64),
            SumType::Decimal128 => total.to_decimal().map(RawBson::Decimal128),
            SumType::Double => total.to_double().map(RawBson::Double),
        }
    }
}

impl<V, P: Path> ChildField<V, P> {
    /// A field that is marked `#[sum(..)]`.
    #[track_caller]
    pub const fn sum<T>(
        self,
        name: &'static str,
        children: ChildrenShape,
        recompute: bool,
    ) -> FieldShape
    where
        V: Addable,
        T: SumOf<V::Sum>,
    {
        match (T::TYPE, recompute) {
            (SumType::Double, false) => panic!(
                "a sum of floats is rounded, so that it does not follow from the change of one of them: add `recompute`, which adds \
                 up all children after each change, or let them have integers or decimals"
            ),
            (SumType::Int64 | SumType::Decimal128, true) => panic!(
                "this sum is exact, and follows from the change of a child: remove `recompute`"
            ),
            _ => {}
        }
        let shape = SumShape {
            children,
            amount: P::TEXT,
            sum: T::TYPE,
        };
        FieldShape::new(name, FieldKind::Derived(DerivedShape::Sum(shape)))
    }
}

/// The type of a `#[sum(..)]` of numbers whose sums are an `S`.
#[diagnostic::on_unimplemented(
    message = "a `#[sum(..)]` of these numbers is not a `{Self}`",
    label = "expected `{S}`",
    note = "a sum of integers is an `i64` or a `Decimal128`, a sum of decimals a `Decimal128`, and a sum of floats an `f64`"
)]
pub trait SumOf<S> {
    /// The stored type.
    const TYPE: SumType;
}

impl SumOf<i64> for i64 {
    const TYPE: SumType = SumType::Int64;
}
impl SumOf<i64> for Decimal128 {
    const TYPE: SumType = SumType::Decimal128;
}
impl SumOf<Decimal128> for Decimal128 {
    const TYPE: SumType = SumType::Decimal128;
}
impl SumOf<f64> for f64 {
    const TYPE: SumType = SumType::Double;
}
