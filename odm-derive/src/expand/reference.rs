//! References: their declarations, and inverse references.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{LitStr, Type, spanned::Spanned};

use crate::{
    derive::Derive,
    model::{Head, Member, Role, Structure},
    types,
};

/// ```ignore
/// {
///     delete_rule::<Vec<Ref<Task>>>(OnDelete::Pull, false);
///     assert!(!is_required::<Vec<Ref<Task>>>(), "..");
///     reference::<Vec<Ref<Task>>>("tasks", DeclaredReference {
///         parent: false,
///         one: false,
///         unchecked: false,
///         on_delete: Some(OnDelete::Pull),
///         inverse: Some(..),
///     })
/// }
/// ```
pub(super) fn shape(head: &Head, stored: &str, member: &Member) -> Option<TokenStream> {
    let private = &head.private;
    let ty = &member.ty;
    let Role::Reference {
        parent,
        one,
        unchecked,
        on_delete,
        inverse,
    } = &member.role
    else {
        return None;
    };
    let (rule, on_delete) = match on_delete {
        Some((literal, rule)) => {
            let embedded = head.derive != Derive::Document;
            let rule = quote::format_ident!("{}", rule.variant());
            // Gives the whole call the span of the literal.
            let at = head.private_at(literal.span());
            let check = quote_spanned! {literal.span()=>
                #at::delete_rule::<#ty>(#at::OnDelete::#rule, #embedded);
            };
            (check, quote!(#private::Some(#private::OnDelete::#rule)))
        }
        None => (TokenStream::new(), quote!(#private::None)),
    };
    let skipped = member.skipped.as_ref().map(|skip| {
        let required = "a reference that is no `Option` is always stored: remove \
                        `skip_serializing_if`";
        quote_spanned! {skip.span()=>
            ::core::assert!(!#private::is_required::<#ty>(), #required);
        }
    });
    let inverse = match (inverse, &member.ident) {
        (Some((literal, other)), Some(ident)) => {
            let inverse = self::inverse(head, ty, ident, literal, other);
            quote!(#private::Some(#inverse))
        }
        _ => quote!(#private::None),
    };
    let shape = quote! {
        #private::reference::<#ty>(#stored, #private::DeclaredReference {
            parent: #parent,
            one: #one,
            unchecked: #unchecked,
            on_delete: #on_delete,
            inverse: #inverse,
        })
    };
    Some(if rule.is_empty() && skipped.is_none() {
        shape
    } else {
        quote!({ #rule #skipped #shape })
    })
}

/// ```ignore
/// {
///     let path = path_to::<Person, _, _, _>(target::<Vec<Ref<Task>>>().owner);
///     assert!(points_back::<Vec<Ref<Task>>>("owner", "tasks"), "`owner` of `Task` ..");
///     path
/// }
/// ```
fn inverse(head: &Head, ty: &Type, ident: &Ident, literal: &LitStr, other: &Ident) -> TokenStream {
    let Head { private, this, .. } = head;
    let (own, field) = (types::name(ident), types::name(other));
    let target = match types::argument(types::innermost(ty), "Ref") {
        Some(target) => format!("`{}`", types::written(target)),
        None => "the target".to_owned(),
    };
    let message = format!(
        "`{field}` of {target} is not declared as the inverse: add `inverse = \"{own}\"` to it"
    );
    quote_spanned! {literal.span()=> {
        let path = #private::path_to::<#this, _, _, _>(#private::target::<#ty>().#other);
        ::core::assert!(#private::points_back::<#ty>(#field, #own), #message);
        path
    }}
}

/// ```ignore
/// const INVERSES: &'static [(&'static str, &'static str)] = &[("tasks", "owner")];
/// ```
pub(super) fn inverses(structure: &Structure) -> Option<TokenStream> {
    let pairs: Vec<_> = structure
        .members
        .iter()
        .filter_map(|member| match (&member.role, &member.ident) {
            (
                Role::Reference {
                    inverse: Some((_, other)),
                    ..
                },
                Some(ident),
            ) => Some((types::name(ident), types::name(other))),
            _ => None,
        })
        .map(|(own, other)| quote!((#own, #other)))
        .collect();
    (!pairs.is_empty()).then(|| {
        quote! {
            const INVERSES: &'static [(&'static str, &'static str)] = &[#(#pairs),*];
        }
    })
}
