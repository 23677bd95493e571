//! Whether there are children: `#[exists(of = "Child", via = "parent", filter = path, refresh = "later")]`.

use super::{
    DerivedKind, Indexed,
    children::{OfChildren, Reads},
};

pub(super) const KIND: DerivedKind = DerivedKind {
    attribute: "exists",
    noun: "an existence",
    is_embedded: false,
    is_optional: false,
    indexed: Indexed::Whole,
    read: |cx, attr| Box::new(OfChildren::new(cx, "exists", Reads::Nothing, attr)),
};
