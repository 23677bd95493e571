//! `Link`: an embedded value around one reference.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::{
    model::{Head, Link, Mark, Structure},
    types,
};

/// ```ignore
/// impl Link for PartLink {
///     type Target = <Ref<Part> as Link>::Target;
///     const PATH: &'static str = "id";
///     fn target(&self) -> &Ref<Self::Target> { &self.id }
/// }
/// // if there is nothing else in it but copies
/// impl From<&<Ref<Part> as Link>::Target> for PartLink {
///     fn from(document: &<Ref<Part> as Link>::Target) -> Self {
///         Self { id: From::from(document), name: from_source(&document.name) }
///     }
/// }
/// ```
pub(super) fn expand(head: &Head, structure: &Structure, link: &Link) -> TokenStream {
    let Head { private, this, .. } = head;
    let member = &structure.members[link.member];
    let (ident, ty, path) = (&member.ident, &member.ty, member.stored(structure));
    let (impl_generics, _, where_clause) = head.generics.split_for_impl();
    let from = link.alone.then(|| {
        let document = Ident::new("document", Span::mixed_site());
        let copies = structure
            .members
            .iter()
            .filter_map(|member| match &member.mark {
                Mark::Copy(copy) => {
                    let (ident, path) = (&member.ident, &copy.from.path);
                    let span = copy.from.literal.span();
                    let private = types::located(private.clone(), span);
                    let value = quote_spanned!(span=> &#document #(.#path)*);
                    Some(quote_spanned!(span=> #ident: #private::from_source(#value)))
                }
                _ => None,
            });
        quote! {
            #[automatically_derived]
            impl #impl_generics ::core::convert::From<&<#ty as #private::Link>::Target> for #this
            #where_clause
            {
                fn from(#document: &<#ty as #private::Link>::Target) -> Self {
                    Self {
                        #ident: ::core::convert::From::from(#document),
                        #(#copies,)*
                    }
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
