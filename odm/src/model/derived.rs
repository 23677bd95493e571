//! The kinds of derived fields, as the derives describe them.

mod children;
mod copy;
mod count;
mod exists;
mod subset;

pub use children::*;
pub use copy::*;
pub use count::*;
pub use exists::*;
pub use subset::*;

use super::{Container, Inner};

/// The kinds of derived fields.
#[derive(Debug, Clone, Copy)]
pub enum DerivedShape {
    /// A copy of a field of another document.
    Copy(CopyShape),
    /// The number of children.
    Count(ChildrenShape),
    /// Whether there are children.
    Exists(ChildrenShape),
    /// A bounded array of children.
    Subset(SubsetShape),
}

impl DerivedShape {
    /// The values with fields in such a field. Those of a copy are known to its field.
    pub(super) fn inner(self, copied: Option<Inner>) -> Option<Inner> {
        match self {
            DerivedShape::Copy(_) => copied,
            DerivedShape::Count(_) | DerivedShape::Exists(_) => None,
            DerivedShape::Subset(subset) => Some(Inner {
                shape: subset.item,
                container: Container::Many,
            }),
        }
    }
}
