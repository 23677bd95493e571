//! `ChildOf`: the documents that a document belongs to.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Generics, Type};

use crate::{
    model::{Head, Mark, Structure},
    types,
};

/// ```ignore
/// impl ChildOf<Product> for Review {
///     const PATH: &'static str = "product_id";
///     type Cardinality = Any;
/// }
/// ```
///
/// Where two references lead to the same type, neither is *the* parent. A list of parents is not
/// one either. The parents are named as the user did: two associated types in the heads of
/// implementations would count as overlapping.
pub(crate) fn expand(head: &Head, generics: &Generics, structure: &Structure) -> TokenStream {
    let Head { private, this, .. } = head;
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let parents: Vec<_> = structure
        .members
        .iter()
        .filter_map(|member| match member.mark {
            Mark::Reference {
                parent: true, one, ..
            } => Some((member, one, target(&member.ty)?)),
            _ => None,
        })
        .collect();
    let single = parents.iter().filter(|(_, _, target)| {
        parents
            .iter()
            .filter(|(_, _, other)| other == target)
            .count()
            == 1
    });
    let implementations = single.map(|(member, one, target)| {
        let path = member.stored(structure);
        let cardinality = if *one { quote!(AtMostOne) } else { quote!(Any) };
        quote! {
            #[automatically_derived]
            impl #impl_generics #private::ChildOf<#target> for #this #where_clause {
                const PATH: &'static str = #path;
                type Cardinality = #private::#cardinality;
            }
        }
    });
    implementations.collect()
}

/// The document that a `Ref` or an `Option` of one leads to, as far as the tokens tell.
fn target(ty: &Type) -> Option<&Type> {
    types::argument(types::argument(ty, "Option").unwrap_or(ty), "Ref")
}
