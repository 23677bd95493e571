//! `#[split(collection = "..", key = "..", optional)]`.

use syn::{Attribute, LitStr, Path};

use super::value::{Once, flag, keys, string, unknown};
use crate::ctxt::Ctxt;

/// The cold part of a split document.
#[derive(Clone)]
pub(crate) struct Split {
    /// The attribute's name.
    pub(crate) at: Path,
    /// The collection of the cold parts.
    pub(crate) collection: LitStr,
    /// The stored name of the `_id` of the document in its cold part.
    pub(crate) key: LitStr,
    /// Whether a document need not have one.
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
                        "cold part without a collection or a key for the `_id` of its document: write \
                         `#[split(collection = \"..\", key = \"..\")]`",
                    );
                }
                None
            }
        }
    }
}
