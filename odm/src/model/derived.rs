//! The kinds of derived fields, as the derives describe them.

mod copy;
mod count;
mod subset;

pub use copy::*;
pub use count::*;
pub use subset::*;

/// The kinds of derived fields.
#[derive(Debug, Clone, Copy)]
pub enum DerivedShape {
    /// A copy of a field of another document.
    Copy(CopyShape),
    /// The number of children.
    Count(CountShape),
    /// A bounded array of children.
    Subset(SubsetShape),
}
