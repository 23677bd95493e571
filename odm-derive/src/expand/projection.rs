//! `Projection`, and the checks of its fields.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Generics, Type, parse_quote};

use super::{item, structure};
use crate::{
    model::{Head, Projection},
    types,
};

pub(super) fn expand(projection: &Projection) -> TokenStream {
    let Projection {
        head,
        structure,
        of,
    } = projection;
    let fields = structure::expand(head, structure);
    let itself = itself(head, of);
    let checks = checks(projection);
    let item = item::expand(head, &generics(head), structure, Some(of));
    quote!(#fields #itself #checks #item)
}

/// ```ignore
/// impl Referable for ReviewSummary { type Key = NoKey; type StoredKey = NoKey; }
/// impl Projection for ReviewSummary { type Of = Review; }
/// ```
pub(crate) fn itself(head: &Head, of: &Type) -> TokenStream {
    let Head { private, this, .. } = head;
    let generics = generics(head);
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::Referable for #this #where_clause {
            type Key = #private::NoKey;
            type StoredKey = #private::NoKey;
        }

        #[automatically_derived]
        impl #impl_generics #private::Projection for #this #where_clause {
            type Of = #of;
        }
    }
}

/// The type of a generic projection does not tell alone whether it meets the bounds of `Projection`.
fn generics(head: &Head) -> Generics {
    let mut generics = head.generics.clone();
    if head.has_type_params() {
        let Head { private, this, .. } = head;
        generics.make_where_clause().predicates.push(parse_quote! {
            #this: #private::DeserializeOwned + ::core::marker::Send
        });
    }
    generics
}

/// ```ignore
/// const _: () = {
///     let document = fields_of::<Review>();
///     assert!(
///         source(document.review_author).shown_as::<String>().is_stored_as("review_author"),
///         "`review_author` ..",
///     );
/// };
/// ```
///
/// A generic projection is checked in a function that is never called, which leaves out the
/// assertion.
fn checks(projection: &Projection) -> TokenStream {
    let Projection {
        head,
        structure,
        of,
    } = projection;
    let private = &head.private;
    let generic = head.has_type_params();
    let document = Ident::new("document", Span::mixed_site());
    let checks = structure.members.iter().filter(|member| member.users).map(|member| {
        let Some(ident) = &member.ident else { return TokenStream::new() };
        let ty = structure::value_type(head, member);
        let stored = member.stored(structure);
        let name = types::name(ident);
        let message = format!(
            "`{name}` is stored as `{stored}` here, and under another name in the document: give both \
             the same `#[serde(rename = \"..\")]`"
        );
        let span = ident.span();
        let same = quote_spanned!(span=> #private::source(#document.#ident).shown_as::<#ty>());
        if generic {
            quote_spanned!(span=> let _ = #same;)
        } else {
            let hot = (!types::is_plain(&member.ty)).then(|| {
                let cold = "a projection shows what is in the document itself, and this is in its \
                            cold part: read the document, with `.with(..)`";
                quote_spanned!(span=> ::core::assert!(#same.is_hot(), #cold);)
            });
            let default = (!structure.defaulted && !member.defaulted).then(|| {
                let absent = format!(
                    "`{name}` can be missing in the document, which has a default for it: add \
                     `#[serde(default)]` here too"
                );
                let read = (!types::is_scalar(&ty))
                    .then(|| quote!(#private::Probe::<#ty>::FROM_NOTHING ||));
                quote_spanned! {span=>
                    ::core::assert!(#read !#private::is_defaulted::<#of>(#stored), #absent);
                }
            });
            quote_spanned! {span=>
                ::core::assert!(#same.is_stored_as(#stored), #message);
                #hot
                #default
            }
        }
    });
    let fields = quote!(let #document = #private::fields_of::<#of>(););
    if generic {
        let (impl_generics, _, where_clause) = head.generics.split_for_impl();
        quote! {
            fn check #impl_generics () #where_clause {
                #fields
                #(#checks)*
            }
        }
    } else {
        quote! {
            const _: () = {
                #fields
                #(#checks)*
            };
        }
    }
}
