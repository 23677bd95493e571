//! `#[count(of = "Child", via = "parent", filter = path)]`.

use proc_macro2::Ident;
use syn::{Attribute, LitStr, Path, Type};

use super::{
    subset::{filter, via},
    value::{Once, keys, ty, unknown},
};
use crate::ctxt::Ctxt;

/// The number of children.
#[derive(Clone)]
pub(crate) struct Count {
    /// The attribute's name.
    pub(crate) at: Path,
    /// The child. `None` after an error only.
    pub(crate) of: Option<Type>,
    /// The child's field that refers to the holder.
    pub(crate) via: Option<(LitStr, Ident)>,
    /// A function that returns a filter.
    pub(crate) filter: Option<Path>,
}

impl Count {
    pub(super) fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let mut of = Once::new("of");
        let mut via_of = Once::new("via");
        let mut filter_of = Once::new("filter");
        let before = cx.count();
        for (key, meta) in keys(cx, attr) {
            match key.as_str() {
                "of" => of.set(cx, &meta, ty(cx, &meta)),
                "via" => via_of.set(cx, &meta, via(cx, &meta)),
                "filter" => filter_of.set(cx, &meta, filter(cx, &meta)),
                _ => unknown(cx, &meta, "count", "`of`, `via` or `filter`"),
            }
        }
        let of = of.get();
        if of.is_none() && cx.count() == before {
            cx.error(
                &attr.meta,
                "count without children: write `#[count(of = \"Child\")]`",
            );
        }
        Count {
            at: attr.path().clone(),
            of,
            via: via_of.get(),
            filter: filter_of.get(),
        }
    }
}
