//! The kinds of derived fields, as the derives describe them.

mod ancestors;
mod children;
mod computed;
mod copy;
mod count;
mod exists;
mod extreme;
mod sequence;
mod subset;
mod sum;

pub use ancestors::*;
pub use children::*;
pub use computed::*;
pub use copy::*;
pub use count::*;
pub use exists::*;
pub use extreme::*;
pub use sequence::*;
pub use subset::*;
pub use sum::*;

use super::{Container, Inner};

/// The kinds of derived fields.
#[derive(Debug, Clone, Copy)]
pub enum DerivedShape {
    /// The documents above a document in a tree.
    Ancestors(AncestorsShape),
    /// A value computed from fields of the same document.
    Computed(ComputedShape),
    /// A copy of a field of another document.
    Copy(CopyShape),
    /// The number of children.
    Count(ChildrenShape),
    /// Whether there are children.
    Exists(ChildrenShape),
    /// The greatest value in the children.
    Max(ExtremeShape),
    /// The least value in the children.
    Min(ExtremeShape),
    /// The number of a document within its parent.
    Sequence(SequenceShape),
    /// A bounded array of children.
    Subset(SubsetShape),
    /// The sum of a number in the children.
    Sum(SumShape),
}

impl DerivedShape {
    /// Whether the field cannot be in a value that a document may hold in part: it follows from the fields beside it.
    pub(crate) fn needs_own_place(self) -> bool {
        matches!(self, DerivedShape::Computed(_))
    }

    /// The values with fields in such a field. Those of a copy are known to its field.
    pub(super) fn inner(self, copied: Option<Inner>) -> Option<Inner> {
        match self {
            DerivedShape::Copy(_) => copied,
            DerivedShape::Ancestors(_)
            | DerivedShape::Computed(_)
            | DerivedShape::Count(_)
            | DerivedShape::Exists(_)
            | DerivedShape::Max(_)
            | DerivedShape::Min(_)
            | DerivedShape::Sequence(_)
            | DerivedShape::Sum(_) => None,
            DerivedShape::Subset(subset) => Some(Inner {
                shape: subset.item,
                container: Container::Many,
            }),
        }
    }
}
