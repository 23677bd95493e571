//! Counts of children: `#[count(of = "Child", via = "parent", filter = path, refresh = "later")]`.

use super::{
    DerivedKind, Indexed,
    children::{OfChildren, Reads},
};

pub(super) const KIND: DerivedKind = DerivedKind {
    attribute: "count",
    noun: "a count",
    is_embedded: false,
    is_optional: false,
    indexed: Indexed::Whole,
    read: |cx, attr| Box::new(OfChildren::new(cx, "count", Reads::Nothing, attr)),
};
