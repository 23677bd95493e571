//! `Link`: an embedded value around one reference.

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::{Head, Link, Structure};

/// ```ignore
/// impl Link for PartLink {
///     type Target = <Ref<Part> as Link>::Target;
///     const PATH: &'static str = "id";
///     fn target(&self) -> &Ref<Self::Target> { &self.id }
/// }
/// // if there is nothing else in it
/// impl From<&<Ref<Part> as Link>::Target> for PartLink {
///     fn from(document: &<Ref<Part> as Link>::Target) -> Self {
///         Self { id: From::from(document) }
///     }
/// }
/// ```
pub(super) fn expand(head: &Head, structure: &Structure, link: &Link) -> TokenStream {
    let Head { private, this, .. } = head;
    let member = &structure.members[link.member];
    let (ident, ty, path) = (&member.ident, &member.ty, member.stored(structure));
    let (impl_generics, _, where_clause) = head.generics.split_for_impl();
    let from = link.alone.then(|| {
        quote! {
            #[automatically_derived]
            impl #impl_generics ::core::convert::From<&<#ty as #private::Link>::Target> for #this
            #where_clause
            {
                fn from(document: &<#ty as #private::Link>::Target) -> Self {
                    Self { #ident: ::core::convert::From::from(document) }
                }
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::Link for #this #where_clause {
            type Target = <#ty as #private::Link>::Target;
            const PATH: &'static str = #path;

            fn target(&self) -> &#private::Ref<Self::Target> {
                &self.#ident
            }
        }

        #from
    }
}
