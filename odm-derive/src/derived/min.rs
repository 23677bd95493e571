//! The least value in the children: `#[min(of = "Child.price", via = "parent", filter = path, refresh = "later")]`.

use super::{
    DerivedKind, Indexed,
    children::{OfChildren, Reads},
};

pub(super) const KIND: DerivedKind = DerivedKind {
    attribute: "min",
    noun: "a least value",
    is_embedded: false,
    is_optional: true,
    indexed: Indexed::Whole,
    read: |cx, attr| Box::new(OfChildren::new(cx, "min", Reads::Field, attr)),
};
