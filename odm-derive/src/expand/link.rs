//! `Link`: an embedded value around one reference.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::{
    model::{Head, Link, Structure},
    types,
};

/// ```ignore
/// impl Linked for PartLink {
///     type Reference = Ref<Part>;
///     const NAME: &'static str = "id";
///     fn reference(&self) -> &Ref<Part> { &self.id }
/// }
/// // if there is nothing else in it but copies
/// impl From<&<Ref<Part> as ReferenceField>::Target> for PartLink {
///     fn from(document: &<Ref<Part> as ReferenceField>::Target) -> Self {
///         Self {
///             id: ReferenceField::to(document),
///             name: from_source::<_, String>(
///                 &of_original(document, copied::<Part, _>(fields_of::<Part>().name).copied_as::<String>()).name,
///             ),
///         }
///     }
/// }
/// // The copies are computed where it is stored. The lifetime lets the bound fail where it is used, and not here.
/// impl From<Ref<Part>> for PartLink where for<'a> String: Default {
///     fn from(reference: Ref<Part>) -> Self {
///         Self { id: reference, name: Default::default() }
///     }
/// }
/// ```
pub(super) fn expand(head: &Head, structure: &Structure, link: &Link) -> TokenStream {
    let Head { private, this, .. } = head;
    let member = &structure.members[link.member];
    let (ident, ty, path) = (&member.ident, &member.ty, member.stored(structure));
    let (impl_generics, _, where_clause) = head.generics.split_for_impl();
    let target = quote!(<#ty as #private::ReferenceField>::Target);
    let from = link.alone.then(|| {
        let document = Ident::new("document", Span::mixed_site());
        let (copies, empty): (Vec<_>, Vec<_>) = structure
            .copies()
            .map(|(member, copy)| {
                let (ident, ty) = (&member.ident, &member.ty);
                let value = copy.taken(head, ty, &document);
                (
                    quote!(#ident: #value),
                    (ident, types::native(ty).unwrap_or(ty)),
                )
            })
            .unzip();
        let (empty, types): (Vec<_>, Vec<_>) = empty.into_iter().unzip();
        let predicates = where_clause.iter().flat_map(|clause| &clause.predicates);
        quote! {
            #[automatically_derived]
            impl #impl_generics ::core::convert::From<&#target> for #this #where_clause {
                fn from(#document: &#target) -> Self {
                    Self {
                        #ident: #private::ReferenceField::to(#document),
                        #(#copies,)*
                    }
                }
            }

            #[automatically_derived]
            impl #impl_generics ::core::convert::From<#ty> for #this
            where
                #(#predicates,)*
                #(for<'empty> #types: ::core::default::Default,)*
            {
                fn from(reference: #ty) -> Self {
                    Self {
                        #ident: reference,
                        #(#empty: ::core::default::Default::default(),)*
                    }
                }
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::Linked for #this #where_clause {
            type Reference = #ty;
            const NAME: &'static str = #path;

            fn reference(&self) -> &#ty {
                &self.#ident
            }
        }

        #from
    }
}
