//! The filters that models declare by functions.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Path, spanned::Spanned};

use crate::model::Head;

/// ```ignore
/// Some(|| declared_filter::<Review>(published))
/// ```
pub(crate) fn declared_filter(
    head: &Head,
    function: Option<&Path>,
    model: &TokenStream,
) -> TokenStream {
    let private = &head.private;
    match function {
        Some(path) => quote_spanned! {path.span()=>
            #private::Some(|| #private::declared_filter::<#model>(#path))
        },
        None => quote!(#private::None),
    }
}
