//! The description of extremes: the least and the greatest value.

use super::{ChildField, ChildrenShape, DerivedShape};
use crate::model::{FieldKind, FieldShape, Native, Ordered, Path};

/// The least or the greatest value of a field in the children of a document.
#[derive(Debug, Clone, Copy)]
pub struct ExtremeShape {
    /// The children.
    pub children: ChildrenShape,
    /// The path of the value in a child.
    pub value: &'static str,
}

impl<V, P: Path> ChildField<V, P> {
    /// A field that is marked `#[min(..)]`.
    pub const fn min<T: ExtremeOf<V>>(
        self,
        name: &'static str,
        children: ChildrenShape,
    ) -> FieldShape {
        let value = P::TEXT;
        let shape = DerivedShape::Min(ExtremeShape { children, value });
        FieldShape::new(name, FieldKind::Derived(shape))
    }

    /// A field that is marked `#[max(..)]`.
    pub const fn max<T: ExtremeOf<V>>(
        self,
        name: &'static str,
        children: ChildrenShape,
    ) -> FieldShape {
        let value = P::TEXT;
        let shape = DerivedShape::Max(ExtremeShape { children, value });
        FieldShape::new(name, FieldKind::Derived(shape))
    }
}

/// The type of a `#[min(..)]` or `#[max(..)]` of values of type `V`.
#[diagnostic::on_unimplemented(
    message = "the least or the greatest value of type `{V}` is not a `{Self}`",
    label = "expected an `Option`",
    note = "a document without children has no such value, so a `#[min(..)]` or `#[max(..)]` is an `Option`"
)]
pub trait ExtremeOf<V> {}

impl<V: Ordered<Present: IsPresent<T>>, T> ExtremeOf<V> for Option<T> {}
#[diagnostic::do_not_recommend]
impl<T> ExtremeOf<Native<T>> for Native<Option<T>> where Native<T>: Ordered {}

/// The type in the `Option` of an extreme, which is that of the values.
#[diagnostic::on_unimplemented(
    message = "the least or the greatest value of type `{Self}` is not an `Option<{T}>`",
    label = "expected an `Option<{Self}>`"
)]
pub trait IsPresent<T> {}

impl<T> IsPresent<T> for T {}
