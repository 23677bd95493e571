//! `renamed(from = "..", to = "..")`.

use syn::{LitStr, Meta};

use super::value::{Once, nested, string, unknown};
use crate::ctxt::Ctxt;

/// A field that had another stored name in an older version of the model.
#[derive(Clone)]
pub(crate) struct Renamed {
    pub(crate) from: LitStr,
    pub(crate) to: LitStr,
}

impl Renamed {
    pub(super) fn new(cx: &Ctxt, meta: &Meta) -> Option<Self> {
        let mut from = Once::new("from");
        let mut to = Once::new("to");
        let before = cx.count();
        for (key, meta) in nested(cx, meta) {
            match key.as_str() {
                "from" => from.set(cx, &meta, string(cx, &meta)),
                "to" => to.set(cx, &meta, string(cx, &meta)),
                _ => unknown(cx, &meta, "document(renamed(..))", "`from` or `to`"),
            }
        }
        match (from.get(), to.get()) {
            (Some(from), Some(to)) => Some(Renamed { from, to }),
            _ => {
                if cx.count() == before {
                    cx.error(
                        meta,
                        "renamed field without its old or its new name: write `renamed(from = \"..\", to = \
                         \"..\")`",
                    );
                }
                None
            }
        }
    }
}
