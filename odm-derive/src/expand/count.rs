//! Counts of children.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Type, spanned::Spanned};

use super::subset;
use crate::{attr::Count, model::Head};

/// ```ignore
/// count::<u32, Review>("reviews", parent_path::<Review, Product, _>(), None)
/// ```
pub(super) fn shape(head: &Head, stored: &str, ty: &Type, declared: &Count) -> Option<TokenStream> {
    let Head { private, this, .. } = head;
    let child = declared.of.as_ref()?;
    let via = match &declared.via {
        Some((literal, field)) => quote_spanned! {literal.span()=>
            #private::path_to::<#this, _, _, _>(#private::fields_of::<#child>().#field)
        },
        None => quote_spanned! {child.span()=> #private::parent_path::<#child, #this, _>() },
    };
    let filter = subset::filter(head, declared.filter.as_ref(), &quote!(#child));
    Some(quote_spanned! {ty.span()=>
        #private::count::<#ty, #child>(#stored, #via, #filter)
    })
}
