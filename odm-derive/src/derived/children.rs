//! The children that a derived field is computed from: the keys `via`, `filter` and `refresh`.

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;
use syn::{LitStr, Meta, Path};

use crate::{
    attr::value::{function, only, string},
    ctxt::Ctxt,
    model::Head,
    types::{self, ident},
};

/// The reference of the child to its parent: `via = "author.id"`.
#[derive(Clone)]
pub(crate) struct ChildReference {
    literal: LitStr,
    /// The Rust fields on the path to it.
    path: Vec<Ident>,
}

/// Reads the names of fields, from the top of the child.
pub(super) fn via(cx: &Ctxt, meta: &Meta) -> Option<ChildReference> {
    let literal = string(cx, meta)?;
    let text = literal.value();
    let path = text
        .split('.')
        .map(|name| ident(name.trim(), literal.span()))
        .collect::<Option<Vec<_>>>()
        // A model is named in the `via` of a copy.
        .filter(|_| !(text.contains('.') && text.starts_with(char::is_uppercase)));
    if path.is_none() {
        let message = format!(
            "`{text}` is not the name of a field of the child: write that of its reference, with dots \
             through embedded values"
        );
        cx.error(&literal, message);
    }
    Some(ChildReference {
        literal,
        path: path?,
    })
}

/// ```ignore
/// {
///     assert!(is_followed(child.author), "..");
///     path_to::<User, _, _, _>(step(child.author).id)
/// }
/// ```
pub(super) fn emit_via(head: &Head, via: &ChildReference, child: &TokenStream) -> TokenStream {
    let this = &head.this;
    let span = via.literal.span();
    let private = types::located(head.private.clone(), span);
    let mut names = via.path.iter();
    let mut last = names.next();
    let mut field = quote_spanned!(span=> #child.#last);
    let mut checks = TokenStream::new();
    for name in names {
        let message = format!(
            "references in a map, as in `{}`, have no path: its keys are not known",
            last.map(types::name).unwrap_or_default()
        );
        checks.extend(quote_spanned! {span=>
            ::core::assert!(#private::is_followed(#field), #message);
        });
        field = quote_spanned!(span=> #private::step(#field).#name);
        last = Some(name);
    }
    let path = quote_spanned!(span=> #private::path_to::<#this, _, _, _>(#field));
    if checks.is_empty() {
        path
    } else {
        quote_spanned!(span=> { #checks #path })
    }
}

/// Reads `refresh = "later"`.
pub(super) fn refresh(cx: &Ctxt, meta: &Meta) -> Option<()> {
    let without = "the field is right when the write of a child returns";
    only(cx, meta, "later", without)
}

/// A function that returns a filter.
pub(super) fn filter(cx: &Ctxt, meta: &Meta) -> Option<Path> {
    function(
        cx,
        meta,
        "returns a `Filter` of the child: `filter = published`",
    )
}
