//! The names that all generated code for one item shares.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Generics, Path, Type, parse_quote, parse_quote_spanned, spanned::Spanned};

use crate::{
    ast::{Field, Input},
    derive::Derive,
    types,
};

/// The item, and the names that generated code may use for it.
pub(crate) struct Head {
    pub(crate) ident: Ident,
    pub(crate) derive: Derive,
    /// The name without `r#`.
    pub(crate) name: String,
    /// The item's generics, with the bounds that generated code needs.
    pub(crate) generics: Generics,
    /// The type: `Envelope<T>`.
    pub(crate) this: Path,
    /// `::odm::derive`.
    pub(crate) library: TokenStream,
    /// `_odm`, its short name among the generated items: a path of one segment costs the compiler less than one of three.
    pub(crate) private: Ident,
    /// A name for a parameter that is a path.
    pub(crate) path: Ident,
    /// A name for a parameter that is a database.
    pub(crate) database: Ident,
    type_params: Vec<Ident>,
    used: BTreeSet<String>,
}

impl Head {
    pub(crate) fn new(input: &Input<'_>) -> Self {
        let ident = input.item.ident.clone();
        let used = types::idents(input.item);
        let mut generics = input.item.generics.clone();
        let (_, ty_generics, _) = generics.split_for_impl();
        let this = types::applied(&ident, &ty_generics);
        let type_params: Vec<Ident> = generics
            .type_params()
            .map(|param| param.ident.clone())
            .collect();
        for param in &type_params {
            generics
                .make_where_clause()
                .predicates
                .push(parse_quote!(#param: 'static));
        }
        let library = match &input.attrs.krate {
            Some(path) => quote!(#path::derive),
            None => quote!(::odm::derive),
        };
        let private = types::fresh(types::PRIVATE, &used);
        Head {
            derive: input.derive,
            name: types::name(&ident),
            ident,
            generics,
            this,
            library,
            private,
            path: types::fresh("P", &used),
            database: types::fresh("D", &used),
            type_params,
            used,
        }
    }

    /// `_odm`, such that errors stand at this span.
    pub(crate) fn private_at(&self, span: Span) -> Ident {
        let mut private = self.private.clone();
        private.set_span(Span::mixed_site().located_at(span));
        private
    }

    /// An identifier that hides none of the user's.
    pub(crate) fn fresh(&self, base: &str) -> Ident {
        types::fresh(base, &self.used)
    }

    pub(crate) fn has_type_params(&self) -> bool {
        !self.type_params.is_empty()
    }

    /// Whether the type depends on a parameter of the item.
    pub(crate) fn is_dependent(&self, ty: &Type) -> bool {
        types::mentions(ty, self.generics.type_params().map(|param| &param.ident))
            || types::mentions(ty, self.generics.const_params().map(|param| &param.ident))
    }

    /// Whether the type has the item itself in it.
    pub(crate) fn is_recursive(&self, ty: &Type) -> bool {
        types::mentions(ty, [&self.ident])
    }

    pub(crate) fn without_self(&self, ty: &Type) -> Type {
        types::without_self(ty, &self.this)
    }

    /// The type that says how a field is stored: its own, or `Native` of it.
    pub(crate) fn stored_type(&self, field: &Field<'_>) -> Type {
        let ty = self.without_self(field.ty);
        if !field.serde.native {
            return ty;
        }
        let private = self.private_at(ty.span());
        parse_quote_spanned!(ty.span()=> #private::Native<#ty>)
    }

    /// Requires of a parameter in an `#[embed]` field that it can be embedded.
    pub(crate) fn bound_embed(&mut self, ty: &Type) {
        self.bound(ty, "EmbedField");
    }

    /// Requires of a parameter in a wrapper that it is an embedded value.
    pub(crate) fn bound_wrapped(&mut self, ty: &Type) {
        self.bound(ty, "Embed");
    }

    /// Requires of a parameter in a `#[reference(..)]` field that it is a reference.
    pub(crate) fn bound_reference(&mut self, ty: &Type) {
        self.bound(ty, "ReferenceField");
    }

    /// Requires of a type without a mark that its content is known, where the type depends on a
    /// parameter.
    pub(crate) fn bound_known(&mut self, ty: &Type) {
        if self.derive != Derive::Projection && self.is_dependent(ty) {
            let private = &self.private;
            let predicate = parse_quote!(#ty: #private::Known);
            self.generics.make_where_clause().predicates.push(predicate);
        }
    }

    /// The bound is put on the parameter alone: one on a type around it would hide that type's own
    /// implementation from the compiler.
    fn bound(&mut self, ty: &Type, name: &str) {
        let innermost = types::innermost(ty).to_token_stream().to_string();
        let param = self
            .type_params
            .iter()
            .find(|param| **param == innermost)
            .cloned();
        if let Some(param) = param {
            let private = &self.private;
            let name = Ident::new(name, Span::call_site());
            let predicate = parse_quote!(#param: #private::#name);
            self.generics.make_where_clause().predicates.push(predicate);
        }
    }

    /// The generics with one more type parameter before the others.
    pub(crate) fn generics_with(&self, param: TokenStream) -> Generics {
        let mut generics = self.generics.clone();
        generics.params.insert(0, parse_quote!(#param));
        generics
    }
}
