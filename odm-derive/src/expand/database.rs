//! `Database`.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::{
    model::{Database, Head},
    types,
};

/// ```ignore
/// impl Clone for Shop {
///     fn clone(&self) -> Self { Self { products: Clone::clone(&self.products) } }
/// }
/// impl Database for Shop {
///     const NAME: &'static str = "shop";
///     const VERSION: u32 = 1;
///     fn models() -> Vec<&'static Model> {
///         models([describe(Probe::<Product>::DESCRIPTION)])
///     }
///     fn bind(session: &Session) -> Self { Self { products: RepositoryField::bind(session) } }
///     fn session(&self) -> &Session { RepositoryField::session(&self.products) }
/// }
/// impl Has<Product> for Shop {}
/// const _: () = {
///     let models: &[ModelEntry] = &[Probe::<Product>::MODEL];
///     let names: &[&str] = &["Product"];
///     complete::<Shop, Product>();
///     if !are_distinct(models) {
///         assert_own_collection(models, names, 0);
///     }
///     assert_acyclic(models);
/// };
/// ```
///
/// `Has` names the models as the user did: two associated types in the heads of implementations
/// would count as overlapping. The checks stand together, since the last has no end where the first has
/// none.
pub(super) fn expand(database: &Database) -> TokenStream {
    let Database {
        head,
        name,
        version,
        migrations,
        repositories,
    } = database;
    let Head { private, this, .. } = head;
    let idents: Vec<_> = repositories.iter().map(|(ident, ..)| ident).collect();
    let models = repositories.iter().map(|(_, _, model)| model);
    let session = Ident::new("session", Span::mixed_site());
    let bound = repositories
        .iter()
        .map(|(ident, ty, _)| quote_spanned!(ty.span()=> #ident: #private::RepositoryField::bind(#session)));
    let first = idents.first();
    let version = version.base10_digits().parse::<Literal>();
    let version = version.ok();
    // Its result has the type that the user wrote, which the compiler checks at the user's tokens.
    let migrations = migrations.as_ref().map(|function| {
        let returned = head.private_at(function.span());
        quote! {
            fn migrations() -> #private::Migrations {
                #returned::migrations(#function)
            }
        }
    });
    let has = has(database);
    let checks = checks(database);
    // Not marked as derived: it counts as a use of each repository, also of one that is only there
    // because another model refers to it.
    quote! {
        impl ::core::clone::Clone for #this {
            fn clone(&self) -> Self {
                Self { #(#idents: ::core::clone::Clone::clone(&self.#idents)),* }
            }
        }

        #[automatically_derived]
        impl #private::Database for #this {
            const NAME: &'static str = #name;
            const VERSION: ::core::primitive::u32 = #version;

            fn models() -> ::std::vec::Vec<&'static #private::Model> {
                #private::models([#(#private::describe(#private::Probe::<#models>::DESCRIPTION)),*])
            }

            #migrations

            fn bind(#session: &#private::Session) -> Self {
                Self { #(#bound),* }
            }

            fn session(&self) -> &#private::Session {
                #private::RepositoryField::session(&self.#first)
            }
        }

        #has
        #checks
    }
}

fn has(database: &Database) -> TokenStream {
    let Head { private, this, .. } = &database.head;
    let has = database.repositories.iter().map(|(_, _, model)| {
        quote! {
            #[automatically_derived]
            impl #private::Has<#model> for #this {}
        }
    });
    quote!(#(#has)*)
}

fn checks(database: &Database) -> TokenStream {
    let head = &database.head;
    let Head { private, this, .. } = head;
    let repositories = &database.repositories;
    let complete = repositories.iter().map(|(_, _, model)| {
        let at = head.private_at(model.span());
        quote_spanned!(model.span()=> #at::complete::<#this, #model>();)
    });
    let models = Ident::new("models", Span::mixed_site());
    let names = Ident::new("names", Span::mixed_site());
    let written = repositories
        .iter()
        .map(|(_, _, model)| types::written(model));
    let distinct = repositories
        .iter()
        .enumerate()
        .map(|(position, (_, _, model))| {
            let at = head.private_at(model.span());
            quote_spanned!(model.span()=> #at::assert_own_collection(#models, #names, #position);)
        });
    let outlines = repositories
        .iter()
        .map(|(_, _, model)| quote!(#private::Probe::<#model>::MODEL));
    // Gives the whole call the span of the name.
    let span = head.ident.span();
    let at = head.private_at(span);
    let acyclic = quote_spanned!(span=> #at::assert_acyclic(#models););
    quote! {
        const _: () = {
            let #models: &[#private::ModelEntry] = &[#(#outlines),*];
            let #names: &[&::core::primitive::str] = &[#(#written),*];
            #(#complete)*
            if !#private::are_distinct(#models) {
                #(#distinct)*
            }
            #acyclic
        };
    }
}
