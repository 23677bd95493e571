//! `#[split(collection = "..", key = "..", optional)]`.

use syn::{Attribute, LitStr, Path};

use super::value::{Once, flag, keys, string, unknown};
use crate::ctxt::Ctxt;

/// A half that is stored apart.
#[derive(Clone)]
pub(crate) struct Split {
    /// The attribute's name.
    pub(crate) at: Path,
    /// The collection of the halves.
    pub(crate) collection: LitStr,
    /// The name under which a half holds the `_id` of its document.
    pub(crate) key: LitStr,
    /// A document need not have a half.
    pub(crate) optional: bool,
}

impl Split {
    pub(super) fn new(cx: &Ctxt, attr: &Attribute) -> Option<Self> {
        let mut collection = Once::new("collection");
        let mut key = Once::new("key");
        let mut optional = Once::new("optional");
        let before = cx.count();
        for (name, meta) in keys(cx, attr) {
            match name.as_str() {
                "collection" => collection.set(cx, &meta, string(cx, &meta)),
                "key" => key.set(cx, &meta, string(cx, &meta)),
                "optional" => optional.set(cx, &meta, flag(cx, &meta)),
                _ => unknown(cx, &meta, "split", "`collection`, `key` or `optional`"),
            }
        }
        match (collection.get(), key.get()) {
            (Some(collection), Some(key)) => Some(Split {
                at: attr.path().clone(),
                collection,
                key,
                optional: optional.get().is_some(),
            }),
            _ => {
                if cx.count() == before {
                    cx.error(
                        &attr.meta,
                        "say where the half is stored, and under which name it holds the `_id` of \
                         its document: `#[split(collection = \"..\", key = \"..\")]`",
                    );
                }
                None
            }
        }
    }
}
