//! `SubsetItem`: a document, or a projection of one, that a subset can show.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Generics, Type};

use crate::{
    model::{Head, Member, Role, Structure},
    types,
};

/// ```ignore
/// impl SubsetItem for ReviewSummary {
///     type Child = Review;
///     const SHOWN: Option<fn() -> &'static Shape> = Some(<Self as Structure>::shape);
///     const NESTED: bool = Probe::<Vec<Line>>::SUBSET;
/// }
/// ```
///
/// A constant that is the same for most types is left out.
pub(super) fn expand(
    head: &Head,
    generics: &Generics,
    structure: &Structure,
    of: Option<&Type>,
) -> TokenStream {
    let Head { private, this, .. } = head;
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let marked = structure
        .members
        .iter()
        .any(|member| matches!(&member.role, Role::Derived(derived) if derived.shows_documents()));
    // Copies of subsets, and in projections, whose fields have no marks, all of them.
    let members: Vec<&Member> = match of {
        Some(_) => structure.members.iter().collect(),
        None => structure.copies().map(|(member, _)| member).collect(),
    };
    let types = members.iter().map(|member| &member.ty);
    let others: Vec<_> = types.filter(|ty| !types::is_plain(ty)).collect();
    let child = of.map_or_else(|| quote!(#this), |of| quote!(#of));
    let shown = of.map(|_| {
        quote! {
            const SHOWN: ::core::option::Option<fn() -> &'static #private::Shape> =
                #private::Some(<Self as #private::Structure>::shape);
        }
    });
    let nested = (marked || !others.is_empty())
        .then(|| quote!(const NESTED: bool = #marked #(|| #private::Probe::<#others>::SUBSET)*;));
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::SubsetItem for #this #where_clause {
            type Child = #child;
            #shown
            #nested
        }
    }
}
