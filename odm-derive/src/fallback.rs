//! Stand-ins for the implementations of an item that has mistakes in its attributes, so that its
//! uses elsewhere are not reported too. None of it ever runs.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericParam, Type, parse_quote};

use crate::{
    ast::{Data, Field, Input},
    check,
    derive::Derive,
    expand,
    model::{Head, New, Role, Structure},
    types,
};

/// The stand-ins for an input that did not pass the checks.
pub(crate) fn stubs(input: &Input<'_>) -> Option<TokenStream> {
    let borrows = input
        .item
        .generics
        .params
        .iter()
        .any(|param| matches!(param, GenericParam::Lifetime(_)));
    let borrows = borrows
        || match &input.data {
            Data::Struct(_, fields) => fields
                .iter()
                .any(|field| field.serde.borrows || check::borrowed(field.ty).is_some()),
            Data::Enum(_) => false,
            // Nor can serde store one.
            Data::Union => true,
        };
    // A type that borrows cannot be stored, and has no stand-ins either.
    if borrows || (input.derive == Derive::Database && !input.item.generics.params.is_empty()) {
        return None;
    }
    let mut head = Head::new(input);
    let fields = match &input.data {
        Data::Struct(_, fields) => fields.as_slice(),
        Data::Enum(_) | Data::Union => &[],
    };
    if input.derive == Derive::Database {
        return Some(expand::wrap(&head, &database(&head, fields)));
    }
    let wrapped = input.wrapped().map(|field| &field.attrs);
    if input.derive == Derive::Embed
        && wrapped.is_some_and(|attrs| attrs.embed().is_none() && attrs.reference().is_none())
    {
        return Some(expand::wrap(&head, &scalar(&head)));
    }
    let mut structure = Structure::of_fields(&mut head, input, fields);
    let own = match input.derive {
        Derive::Document => document(&head, &structure, fields),
        Derive::Embed => expand::embedded(&head, &head.this, &expand::no_parent(&head), None),
        Derive::Projection | Derive::Patch | Derive::Database => input
            .attrs
            .of
            .as_ref()
            .map(|of| expand::projection(&head, of))
            .unwrap_or_default(),
    };
    // The types of marked fields can be checked when the marks are right.
    for member in &mut structure.members {
        member.role = Role::Plain;
        member.skipped = None;
    }
    let content = expand::structure(&head, &structure);
    let refers_within = (input.derive != Derive::Projection).then(|| expand::refers_within(&head));
    let new = if input.item.generics.params.is_empty() {
        New::of(input, fields)
    } else {
        None
    };
    let (new, insertable) = new.map(|new| expand::new(&head, &new)).unzip();
    let stubs = quote!(#content #refers_within #own #insertable);
    let stubs = expand::wrap(&head, &stubs);
    Some(quote!(#stubs #new))
}

/// The stand-ins for a struct around a scalar.
fn scalar(head: &Head) -> TokenStream {
    let Head { private, this, .. } = head;
    let (impl_generics, _, where_clause) = head.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::formula::FormulaEquated for #this #where_clause {}

        #[automatically_derived]
        impl #impl_generics #private::Known for #this #where_clause {}

        #[automatically_derived]
        impl #impl_generics #private::Ordered for #this #where_clause {
            type Present = Self;
        }
    }
}

fn document(head: &Head, structure: &Structure, fields: &[Field<'_>]) -> TokenStream {
    let Head { private, this, .. } = head;
    let id = fields
        .iter()
        .find(|field| field.stored == "_id")
        .or_else(|| {
            fields
                .iter()
                .find(|field| field.ident.is_some_and(|ident| ident == "id"))
        })
        .map_or_else(|| parse_quote!(()), |field| head.without_self(field.ty));
    let generics = expand::document_generics(head);
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let into_id = expand::into_id(head, &generics, &id);
    let children = expand::children(head, &generics, structure);
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::Referable for #this #where_clause {
            type Key = #id;
            type StoredKey = #id;
        }

        #[automatically_derived]
        impl #impl_generics #private::Document for #this #where_clause {
            type Id = #id;
            type Itself = Self;
            const NAME: &'static str = "";
            const COLLECTION: &'static str = "";
            const HASH: ::core::primitive::u64 = 0;
            const INVERSES: &'static [(&'static str, &'static str)] = &[("", "")];

            fn id(&self) -> &#id {
                ::core::unreachable!()
            }
        }

        #into_id
        #children
    }
}

fn database(head: &Head, fields: &[Field<'_>]) -> TokenStream {
    let Head { private, this, .. } = head;
    let mut seen = BTreeSet::new();
    let models: Vec<&Type> = fields
        .iter()
        .filter_map(|field| types::argument(field.ty, "Repository"))
        .filter(|ty| seen.insert(ty.to_token_stream().to_string()))
        .collect();
    quote! {
        #[automatically_derived]
        impl ::core::clone::Clone for #this {
            fn clone(&self) -> Self {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        impl #private::Database for #this {
            const NAME: &'static str = "";
            const VERSION: ::core::primitive::u32 = 1;

            fn models() -> ::std::vec::Vec<&'static #private::Model> {
                ::core::unreachable!()
            }

            fn bind(_: &#private::Session) -> Self {
                ::core::unreachable!()
            }

            fn session(&self) -> &#private::Session {
                ::core::unreachable!()
            }
        }

        #(
            #[automatically_derived]
            impl #private::Has<#models> for #this {}
        )*
    }
}
