//! `ChildOf`: the documents that a document belongs to.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Generics, Type};

use crate::{
    model::{Head, Role, Structure},
    types,
};

/// ```ignore
/// impl ChildOf<Product, 0> for Review {
///     const PATH: &'static str = "product_id";
///     type Cardinality = Any;
/// }
/// // where the tokens do not tell what the type is
/// impl ChildOf<<ProductRef as ReferenceField>::Parent, 1> for Review { .. }
/// ```
///
/// Where two references are to the same type, neither is *the* parent: none is implemented if the
/// tokens tell, and otherwise the position, which is to be inferred, is ambiguous where it is used.
pub(crate) fn expand(head: &Head, generics: &Generics, structure: &Structure) -> TokenStream {
    let Head { private, this, .. } = head;
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let parents: Vec<_> = structure
        .members
        .iter()
        .filter_map(|member| match member.role {
            Role::Reference {
                parent: true, one, ..
            } => Some((member, one, parent(head, &member.ty)?.to_string())),
            _ => None,
        })
        .collect();
    let single = parents.iter().filter(|(_, _, parent)| {
        let same = |(_, _, other): &&(_, _, String)| other == parent;
        parents.iter().filter(same).count() == 1
    });
    let implementations = single.enumerate().map(|(position, (member, one, _))| {
        let path = member.stored(structure);
        let parent = parent(head, &member.ty);
        let cardinality = if *one { quote!(AtMostOne) } else { quote!(Any) };
        quote! {
            #[automatically_derived]
            impl #impl_generics #private::ChildOf<#parent, #position> for #this #where_clause {
                const PATH: &'static str = #path;
                type Cardinality = #private::#cardinality;
            }
        }
    });
    implementations.collect()
}

/// The document of a `Ref` or of an `Option` of one. A list of parents is no parent.
///
/// A type that is written as such is taken apart here, so that a mistake in it is reported once.
fn parent(head: &Head, ty: &Type) -> Option<TokenStream> {
    let private = &head.private;
    if let Some(target) = types::argument(types::argument(ty, "Option").unwrap_or(ty), "Ref") {
        return Some(target.to_token_stream());
    }
    if types::argument(types::innermost(ty), "Ref").is_some() {
        return None;
    }
    Some(quote!(<#ty as #private::ReferenceField>::Parent))
}
