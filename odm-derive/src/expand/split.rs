//! Cold parts of documents.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Generics, Type, parse_quote, spanned::Spanned};

use super::path::at;
use crate::{
    attr::Split,
    model::{Head, Place, Role, Structure},
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
/// impl<T> HasCold<ColdPath<FieldPath<Root<Movie>, Movie, 3>>, T> for Movie
/// where
///     Cold<MovieDetails>: ColdOf<T>,
/// {
///     fn cold(&mut self) -> &mut Cold<T> { ColdOf::cold(&mut self.details) }
/// }
/// ```
///
/// The cold part is a parameter, so that the type of the field can be an alias.
pub(super) fn expand(head: &Head, generics: &Generics, structure: &Structure) -> TokenStream {
    let Head { private, this, .. } = head;
    let cold = head.fresh("T");
    let mut generics = generics.clone();
    generics.params.push(parse_quote!(#cold));
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let predicates: Vec<_> = where_clause
        .iter()
        .flat_map(|clause| &clause.predicates)
        .collect();
    let cold_parts = structure.members.iter().filter_map(|member| {
        let (Role::Split(_), Place::At(position), Some(ident)) =
            (&member.role, member.place, &member.ident)
        else {
            return None;
        };
        let ty = &member.ty;
        let at = at(head, this, position, quote!(#private::Root<#this>));
        Some(quote! {
            #[automatically_derived]
            impl #impl_generics #private::HasCold<#private::ColdPath<#at>, #cold> for #this
            where
                #(#predicates,)*
                #ty: #private::ColdOf<#cold>,
            {
                fn cold(&mut self) -> &mut #private::Cold<#cold> {
                    #private::ColdOf::cold(&mut self.#ident)
                }
            }
        })
    });
    cold_parts.collect()
}
