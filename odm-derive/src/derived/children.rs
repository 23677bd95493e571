//! The children that a derived field is computed from: the keys `via` and `filter`.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{LitStr, Meta, Path, spanned::Spanned};

use crate::{
    attr::value::{function, string},
    ctxt::Ctxt,
    model::Head,
    types::ident,
};

/// The name of a field of the child.
pub(super) fn via(cx: &Ctxt, meta: &Meta) -> Option<(LitStr, Ident)> {
    let literal = string(cx, meta)?;
    let field = ident(&literal.value(), literal.span());
    if field.is_none() {
        cx.error(
            &literal,
            format!(
                "`{}` is not the name of a field of the child",
                literal.value()
            ),
        );
    }
    field.map(|field| (literal, field))
}

/// A function that returns a filter.
pub(super) fn filter(cx: &Ctxt, meta: &Meta) -> Option<Path> {
    function(
        cx,
        meta,
        "returns a `Filter` of the child: `filter = published`",
    )
}

/// ```ignore
/// Some(|| subset_filter::<Review>(published()))
/// ```
pub(super) fn emit_filter(head: &Head, filter: Option<&Path>, child: &TokenStream) -> TokenStream {
    let private = &head.private;
    match filter {
        Some(path) => quote_spanned! {path.span()=>
            ::core::option::Option::Some(|| #private::subset_filter::<#child>(#path))
        },
        None => quote!(::core::option::Option::None),
    }
}
