//! The implementations of an embedded value besides the implementations of its structure.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;

use crate::model::Head;

/// ```ignore
/// impl Through for Money { type To = Self; }
/// impl Embed for Money {}
/// impl EmbedField for Money {
///     type Value = Self;
///     const CONTAINER: Container = Container::One;
///     type Parent = NoParent;
///     type ParentPath<P: Path> = P;
///     type ParentCardinality = ();
/// }
/// impl Known for Money { const RELATED: bool = true; .. }
/// impl Referable for Money { type Key = NoKey; type StoredKey = NoKey; }
/// ```
pub(crate) fn embedded(
    head: &Head,
    this: &Path,
    parent: &TokenStream,
    operand: Option<TokenStream>,
) -> TokenStream {
    let private = &head.private;
    let (impl_generics, _, where_clause) = head.generics.split_for_impl();
    // An enum of names, which alone is an operand, is stored as a string.
    let is_related = operand.is_none();
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::Through for #this #where_clause {
            type To = Self;
        }

        #[automatically_derived]
        impl #impl_generics #private::Embed for #this #where_clause {}

        #[automatically_derived]
        impl #impl_generics #private::EmbedField for #this #where_clause {
            type Value = Self;
            const CONTAINER: #private::Container = #private::Container::One;
            #parent
        }

        #[automatically_derived]
        impl #impl_generics #private::Referable for #this #where_clause {
            type Key = #private::NoKey;
            type StoredKey = #private::NoKey;
        }

        #[automatically_derived]
        impl #impl_generics #private::formula::FormulaEquated for #this #where_clause {}

        #[automatically_derived]
        impl #impl_generics #private::Known for #this #where_clause {
            const RELATED: bool = #is_related;
            #operand

            fn schema(types: &mut #private::SchemaTypes) -> #private::BsonDocument {
                <Self as #private::Structure>::schema(types)
            }

            fn has_checks(types: &mut #private::SchemaTypes) -> bool {
                <Self as #private::Structure>::has_checks(types)
            }

            fn check(
                &self,
                at: &#private::ValueLocation<'_>,
                found: &mut ::std::vec::Vec<#private::Violation>,
            ) {
                <Self as #private::Structure>::check(self, at, found);
            }
        }
    }
}
