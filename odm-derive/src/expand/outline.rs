//! The outline of a type for checks at compile time: its derived fields and embedded values.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Type;

use super::related;
use crate::{
    derive::Derive,
    model::{Head, Member, Place, Role, Structure},
    types,
};

/// ```ignore
/// const FLATTENED: &'static [&'static ShownNames] = &[<Audit as Structure>::SHOWN];
/// const OUTLINE: &'static Outline = &Outline {
///     references: false,
///     opaque: false,
///     derived: &[("reviews", 0x.., DerivedReads { .. })],
///     embedded: &[("parts", 0x.., Probe::<Vec<PartLink>>::OUTLINE)],
/// };
/// ```
///
/// A type within itself adds nothing. A type without references and derived fields keeps the defaults.
pub(super) fn expand(head: &Head, structure: &Structure) -> TokenStream {
    let private = &head.private;
    let flattened = flattened(head, structure);
    let derived: Vec<_> = structure
        .members
        .iter()
        .filter_map(|member| match &member.role {
            Role::Derived(derived) => {
                let reads = derived.reads(head, structure, member)?;
                Some(named(structure, member, &reads))
            }
            _ => None,
        })
        .collect();
    let embedded: Vec<_> = embedded(head, structure)
        .map(|member| {
            let ty = &member.ty;
            // A probe sees nothing of a type that depends on a parameter. For other types it leaves the report
            // of a value that is not embedded to the shape.
            let outline = if head.is_dependent(ty) || !member.users {
                quote!(#private::outline::<#ty>())
            } else {
                quote!(#private::Probe::<#ty>::OUTLINE)
            };
            named(structure, member, &outline)
        })
        .collect();
    let references = structure
        .members
        .iter()
        .any(|member| matches!(member.role, Role::Reference { .. }));
    let opaque = structure
        .members
        .iter()
        .any(|member| is_opaque(head, member))
        || structure.arrays.iter().any(|element| element.opaque);
    let cold: Vec<_> = structure
        .members
        .iter()
        .filter(|member| matches!(member.role, Role::Split(_)))
        .map(|member| &member.ty)
        .collect();
    // A document is asked for its outline by its database, and an embedded value by its holder.
    let questions = match head.derive {
        Derive::Projection => Vec::new(),
        _ => related::questions(head, structure, |ty| head.is_dependent(ty)),
    };
    let known =
        references || opaque || !cold.is_empty() || !derived.is_empty() || !embedded.is_empty();
    let outline = (known || !questions.is_empty()).then(|| {
        quote! {
            const OUTLINE: &'static #private::Outline = {
                #(#questions)*
                &#private::Outline {
                    references: #references,
                    opaque: #opaque #(|| #private::holds_opaque(#private::Probe::<#cold>::COLD))*,
                    derived: &[#(#derived),*],
                    embedded: &[#(#embedded),*],
                }
            };
        }
    });
    quote!(#flattened #outline)
}

/// Whether there may be values in a field that the library does not look into, and that are not in the
/// outline of an embedded value. Types that embed each other have no such outline.
fn is_opaque(head: &Head, member: &Member) -> bool {
    let itself = || matches!(types::innermost(&member.ty), Type::Path(ty) if ty.qself.is_none() && ty.path == head.this);
    match member.role {
        Role::Embed { recursive: true } => true,
        Role::Embed { recursive: false } => {
            member.users && head.is_recursive(&member.ty) && !itself()
        }
        _ => member.is_unseen(),
    }
}

/// The embedded values that are not of the type itself.
fn embedded<'a>(head: &Head, structure: &'a Structure) -> impl Iterator<Item = &'a Member> {
    structure.members.iter().filter(|member| {
        matches!(member.role, Role::Embed { recursive: false })
            && !(member.users && head.is_recursive(&member.ty))
    })
}

/// The stored name, its hash, and a description.
fn named(structure: &Structure, member: &Member, value: &impl ToTokens) -> TokenStream {
    let stored = member.stored(structure);
    let hash = types::fnv1a(stored);
    quote!((#stored, #hash, #value))
}

fn flattened(head: &Head, structure: &Structure) -> Option<TokenStream> {
    let private = &head.private;
    let types: Vec<_> = embedded(head, structure)
        .filter(|member| !matches!(member.place, Place::At(_)))
        .map(|member| {
            let ty = &member.ty;
            if head.is_dependent(ty) || !member.users {
                quote!(#private::shown::<#ty>())
            } else {
                quote!(#private::Probe::<#ty>::SHOWN)
            }
        })
        .collect();
    (!types.is_empty()).then(|| {
        quote! {
            const FLATTENED: &'static [&'static #private::ShownNames] = &[#(#types),*];
        }
    })
}
