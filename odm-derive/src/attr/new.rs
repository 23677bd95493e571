//! `new = "NewTask"`, or `new(name = "NewTask", derive(Debug, Deserialize))`.

use proc_macro2::TokenStream;
use syn::{Ident, LitStr, Meta};

use super::value::{Once, nested, string, unknown};
use crate::{ctxt::Ctxt, types::ident};

/// The struct of a new document: the fields that a caller gives.
#[derive(Clone)]
pub(crate) struct NewDocument {
    /// The literal that names it.
    pub(crate) literal: LitStr,
    pub(crate) name: Ident,
    /// Its derives besides `Serialize`.
    pub(crate) derives: TokenStream,
}

impl NewDocument {
    pub(super) fn new(cx: &Ctxt, meta: &Meta) -> Option<Self> {
        if !matches!(meta, Meta::List(_)) {
            let (literal, name) = name(cx, meta)?;
            let derives = TokenStream::new();
            return Some(NewDocument {
                literal,
                name,
                derives,
            });
        }
        let mut named = Once::new("name");
        let mut derives = Once::new("derive");
        let before = cx.count();
        for (key, meta) in nested(cx, meta) {
            match key.as_str() {
                "name" => named.set(cx, &meta, name(cx, &meta)),
                "derive" => derives.set(cx, &meta, self::derives(cx, &meta)),
                _ => unknown(cx, &meta, "document(new(..))", "`name` or `derive`"),
            }
        }
        let name = named.get();
        if name.is_none() && cx.count() == before {
            cx.error(meta, "struct without a name: write `new(name = \"New..\")`");
        }
        let (literal, name) = name?;
        Some(NewDocument {
            literal,
            name,
            derives: derives.get().unwrap_or_default(),
        })
    }
}

fn name(cx: &Ctxt, meta: &Meta) -> Option<(LitStr, Ident)> {
    let literal = string(cx, meta)?;
    let name = ident(&literal.value(), literal.span());
    if name.is_none() {
        let message = format!("`{}` is not the name of a struct", literal.value());
        cx.error(&literal, message);
    }
    Some((literal, name?))
}

fn derives(cx: &Ctxt, meta: &Meta) -> Option<TokenStream> {
    match meta {
        Meta::List(list) => Some(list.tokens.clone()),
        _ => {
            cx.error(
                meta,
                "expected the names of derives: `derive(Debug, Clone)`",
            );
            None
        }
    }
}
