//! `RefersWithin`, and the check that nothing that holds references is left unmarked.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Type, spanned::Spanned};

use crate::{
    model::{Element, Head, Role, Structure},
    types,
};

pub(super) fn expand(head: &Head, structure: &Structure) -> TokenStream {
    let marked = structure
        .all_members()
        .filter(|member| member.users)
        .filter_map(|member| {
            let ty = &member.ty;
            match &member.role {
                // A value within itself has the same references.
                Role::Embed { recursive } => {
                    (!*recursive && !head.is_recursive(ty)).then(|| quote!(#ty))
                }
                Role::Reference { .. } | Role::Split(_) => Some(quote!(#ty)),
                Role::Derived(derived) => derived.refers_to(head, ty),
                Role::Plain => None,
            }
        });
    let refers_within = refers_within(head, marked);
    let unmarked = unmarked(head, structure);
    quote!(#refers_within #unmarked)
}

/// ```ignore
/// impl<D> RefersWithin<D> for Product
/// where
///     Vec<PartLink>: RefersWithin<D>,
/// {}
/// ```
pub(super) fn refers_within(head: &Head, marked: impl Iterator<Item = TokenStream>) -> TokenStream {
    let Head {
        private,
        database,
        this,
        ..
    } = head;
    let generics = head.generics_with(quote!(#database));
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let predicates = where_clause.iter().flat_map(|clause| &clause.predicates);
    let mut seen = BTreeSet::new();
    let marked = marked.filter(|ty| seen.insert(ty.to_string()));
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::RefersWithin<#database> for #this
        where
            #(#predicates,)*
            #(#marked: #private::RefersWithin<#database>,)*
        {}
    }
}

/// ```ignore
/// const _: () = {
///     assert(!<String as Known>::RELATED, "`name` holds ..");
///     assert(!Probe::<Opaque>::RELATED, "`raw` holds ..");
/// };
/// ```
///
/// One constant for all, and one question for each type: a constant for each field would double the
/// time that the compiler spends on a model. The outline asks a type that depends on a parameter.
fn unmarked(head: &Head, structure: &Structure) -> Option<TokenStream> {
    let private = &head.private;
    let mut checks = questions(head, structure, |ty| !head.is_dependent(ty));
    for variant in structure.unseen.iter().filter(|_| !head.has_type_params()) {
        let this = &structure.this;
        let message = format!(
            "the value in `{variant}` is stored in the place of the enum, beside variants with references \
             or copies, and its fields are not known: derive `Embed` for its type, and mark it with \
             `#[embed]`"
        );
        checks.push(quote_spanned! {variant.span()=>
            ::core::assert!(
                !#private::holds_relations(<#this as #private::Structure>::OUTLINE),
                #message
            );
        });
    }
    (!checks.is_empty()).then(|| quote!(const _: () = { #(#checks)* };))
}

/// Asks the types of fields without a role whether there are references or embedded values in them. The
/// first question about a field is the most specific: the compiler reports one answer.
pub(super) fn questions(
    head: &Head,
    structure: &Structure,
    concerns: impl Fn(&Type) -> bool,
) -> Vec<TokenStream> {
    let private = &head.private;
    let mut seen = BTreeSet::new();
    // The compiler would spend time on an answer that the tokens give.
    let mut known = |ty: &Type| {
        !types::is_primitive(ty) && concerns(ty) && seen.insert(ty.to_token_stream().to_string())
    };
    let mut checks = Vec::new();
    let mut check = |span: Span, ty: &Type, unseen: bool, message: String| {
        let related = if unseen {
            quote_spanned!(span=> #private::Probe::<#ty>::RELATED)
        } else {
            let at = head.private_at(ty.span());
            quote_spanned!(ty.span()=> <#ty as #at::Known>::RELATED)
        };
        checks.push(quote_spanned!(span=> ::core::assert!(!#related, #message);));
    };
    for member in structure.all_members() {
        let tuples = types::tuple_elements(&member.ty);
        for ty in tuples.into_iter().filter(|ty| member.users && known(ty)) {
            let message = "a tuple is stored as an array, in which references and embedded values \
                           cannot be found: make it a struct that derives `Embed`";
            check(ty.span(), ty, true, message.to_owned());
        }
        if member.users && matches!(member.role, Role::Plain) && known(&member.ty) {
            let (span, name) = match &member.ident {
                Some(ident) => (ident.span(), format!("`{}`", types::name(ident))),
                None => (member.ty.span(), "this".to_owned()),
            };
            let instead = if member.opaque {
                "instead of `#[opaque]`, "
            } else {
                ""
            };
            let message = format!(
                "{name} holds references or embedded values: {instead}mark it with `#[embed]`, \
                 `#[reference(..)]`, `#[subset(..)]`, `#[ancestors(..)]` or `#[split(..)]`"
            );
            check(span, &member.ty, member.is_unseen(), message);
        }
    }
    for Element {
        variant,
        ty,
        opaque,
    } in &structure.arrays
    {
        if known(ty) {
            let message = format!(
                "`{variant}` is stored as an array, in which references and embedded values cannot \
                 be found: name its fields"
            );
            check(variant.span(), ty, *opaque, message);
        }
    }
    checks
}
