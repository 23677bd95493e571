//! The greatest value in the children: `#[max(of = "Child.price", via = "parent", filter = path, refresh = "later")]`.

use super::{
    DerivedKind, Indexed,
    children::{OfChildren, Reads},
};

pub(super) const KIND: DerivedKind = DerivedKind {
    attribute: "max",
    noun: "a greatest value",
    is_embedded: false,
    is_optional: true,
    indexed: Indexed::Whole,
    read: |cx, attr| Box::new(OfChildren::new(cx, "max", Reads::Field, attr)),
};
