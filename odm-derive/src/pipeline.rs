//! The stages in their order.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::{
    ast::Input, check::check, ctxt::Ctxt, derive::Derive, expand::expand, fallback, model::Model,
    patch,
};

/// From the tokens of an item to the output of one of its derives.
pub(crate) fn run(derive: Derive, item: &DeriveInput) -> TokenStream {
    if derive == Derive::Patch {
        return patch::derive(item);
    }
    let cx = Ctxt::new();
    let input = Input::new(&cx, derive, item);
    check(&cx, &input);
    match (cx.finish(), Model::new(&input)) {
        (Ok(()), Some(model)) => expand(&model),
        (Ok(()), None) => {
            let error = syn::Error::new_spanned(&item.ident, "odm-derive let a mistake pass");
            error.to_compile_error()
        }
        (Err(errors), _) => {
            let stubs = fallback::stubs(&input);
            quote!(#errors #stubs)
        }
    }
}
