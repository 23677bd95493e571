//! Halves of a document that are stored apart.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Generics, Type, spanned::Spanned};

use super::structure;
use crate::{
    attr::Split,
    model::{Head, Mark, Place, Structure},
    types,
};

/// ```ignore
/// split::<Cold<MovieDetails>>("details", "movie_details", "movie_id", false)
/// ```
pub(super) fn shape(head: &Head, stored: &str, ty: &Type, declared: &Split) -> TokenStream {
    let private = &head.private;
    let Split {
        collection,
        key,
        optional,
        ..
    } = declared;
    quote_spanned!(ty.span()=> #private::split::<#ty>(#stored, #collection, #key, #optional))
}

/// ```ignore
/// impl HasHalf<Half<At<Root<Movie>, Movie, 3>>, MovieDetails> for Movie {
///     fn half(&mut self) -> &mut Cold<MovieDetails> { &mut self.details }
/// }
/// ```
pub(super) fn expand(head: &Head, generics: &Generics, structure: &Structure) -> TokenStream {
    let Head { private, this, .. } = head;
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let halves = structure.members.iter().filter_map(|member| {
        let (Mark::Split(_), Place::At(position), Some(ident)) =
            (&member.mark, member.place, &member.ident)
        else {
            return None;
        };
        let ty = &member.ty;
        let half = types::argument(ty, "Cold")?;
        let at = structure::at(head, this, position, quote!(#private::Root<#this>));
        Some(quote! {
            #[automatically_derived]
            impl #impl_generics #private::HasHalf<#private::Half<#at>, #half> for #this
            #where_clause
            {
                fn half(&mut self) -> &mut #ty {
                    &mut self.#ident
                }
            }
        })
    });
    halves.collect()
}
