//! The sum of a number in the children: `#[sum(of = "Child.amount", via = "parent", filter = path, refresh = "later", recompute)]`.

use super::{
    DerivedKind, Indexed,
    children::{OfChildren, Reads},
};

pub(super) const KIND: DerivedKind = DerivedKind {
    attribute: "sum",
    noun: "a sum",
    is_embedded: false,
    is_optional: false,
    indexed: Indexed::Whole,
    read: |cx, attr| Box::new(OfChildren::new(cx, "sum", Reads::Amount, attr)),
};
