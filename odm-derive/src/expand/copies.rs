//! `COPIES`: the copies of a type, and the checks of their types.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{
    model::{Head, Structure},
    types,
};

/// ```ignore
/// const COPIES: &'static [(&'static str, u64, Copied)] = &[
///     ("name", 0xc4bcadba8e631b86, copied::<Part, _>(fields_of::<Part>().name).copied_as::<String>() ..),
/// ];
/// ```
///
/// The number is the hash of the name.
pub(super) fn constant(head: &Head, structure: &Structure) -> Option<TokenStream> {
    let private = &head.private;
    let copies: Vec<_> = structure
        .copies()
        .map(|(member, copy)| {
            let stored = member.stored(structure);
            let hash = types::fnv1a(stored);
            let copied = copy.copied(head, structure, member);
            quote!((#stored, #hash, #copied))
        })
        .collect();
    (!copies.is_empty()).then(|| {
        quote! {
            const COPIES: &'static [(&'static str, ::core::primitive::u64, #private::Copied)] =
                &[#(#copies),*];
        }
    })
}

/// ```ignore
/// const _: () = { check::<PartLink>(0); };
/// ```
pub(super) fn checks(head: &Head, structure: &Structure) -> Option<TokenStream> {
    let checks: Vec<_> = structure
        .copies()
        .enumerate()
        .map(|(position, (_, copy))| copy.check(head, structure, position))
        .collect();
    (head.generics.params.is_empty() && !checks.is_empty())
        .then(|| quote!(#(const _: () = { #checks };)*))
}
