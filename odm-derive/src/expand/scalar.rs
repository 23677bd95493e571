//! `Embed` on a struct that is stored as the scalar in it.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Type, spanned::Spanned};

use crate::model::{Head, Scalar};

/// The traits of a scalar, each where the scalar has it. The bounds are for all lifetimes, because the compiler refuses
/// a bound that it finds at once to be false.
///
/// ```ignore
/// impl Known for TaskId { const OPERAND: Option<Operand> = <ObjectId as Known>::OPERAND; .. }
/// impl Ordered for TaskId where for<'a> ObjectId: Ordered { type Present = Self; }
/// impl Text for TaskId where for<'a> ObjectId: Text {}
/// impl AutoId for TaskId where for<'a> ObjectId: AutoId { fn make() -> Self { Self { 0: AutoId::make() } } }
/// impl SequenceId for TaskId where for<'a> ObjectId: SequenceId { .. }
/// impl MapKey for TaskId where for<'a> ObjectId: MapKey {} // with `#[serde(transparent)]`
/// const _: () = assert!(!<ObjectId as Known>::RELATED, "..");
/// ```
pub(super) fn expand(head: &Head, scalar: &Scalar) -> TokenStream {
    let Scalar {
        ty,
        stored,
        field,
        others,
        transparent,
    } = scalar;
    let Head { private, this, .. } = head;
    let (impl_generics, _, where_clause) = head.generics.split_for_impl();
    let known = known(head, stored);
    let located = head.private_at(stored.span());
    let implement = |name: &str, on: &Type, content: TokenStream| {
        let name = syn::Ident::new(name, proc_macro2::Span::call_site());
        let predicates = where_clause.iter().flat_map(|clause| &clause.predicates);
        quote! {
            #[automatically_derived]
            impl #impl_generics #private::#name for #this
            where
                #(#predicates,)*
                for<'__odm> #on: #private::#name,
            {
                #content
            }
        }
    };
    let of_inner = |inner: TokenStream| {
        quote!(Self {
            #field: #inner,
            #(#others: ::core::default::Default::default(),)*
        })
    };
    let made = of_inner(quote!(<#ty as #private::AutoId>::make()));
    let numbered = of_inner(quote!(<#ty as #private::SequenceId>::from_number(number)?));
    let option = quote!(::core::option::Option);
    let capabilities = [
        implement(
            "Ordered",
            stored,
            quote!(
                type Present = Self;
            ),
        ),
        implement("Text", stored, TokenStream::new()),
        implement("AutoId", ty, quote!(fn make() -> Self { #made })),
        implement(
            "SequenceId",
            ty,
            quote! {
                fn from_number(number: ::core::primitive::i64) -> #option<Self> {
                    #option::Some(#numbered)
                }
            },
        ),
    ];
    let key = transparent.then(|| implement("MapKey", stored, TokenStream::new()));
    let message = format!(
        "`{}` is stored as the value in it, which holds references or embedded values: mark that with `#[embed]`",
        head.name
    );
    let unmarked = (!head.is_dependent(stored)).then(|| {
        quote_spanned! {stored.span()=>
            const _: () = ::core::assert!(!<#stored as #located::Known>::RELATED, #message);
        }
    });
    quote!(#known #(#capabilities)* #key #unmarked)
}

fn known(head: &Head, stored: &Type) -> TokenStream {
    let Head { private, this, .. } = head;
    let (impl_generics, _, where_clause) = head.generics.split_for_impl();
    let inner = quote_spanned!(stored.span()=> <#stored as #private::Known>);
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::formula::FormulaEquated for #this #where_clause {}

        #[automatically_derived]
        impl #impl_generics #private::Known for #this #where_clause {
            const RELATED: ::core::primitive::bool = #inner::RELATED;
            const OPERAND: ::core::option::Option<#private::Operand> = #inner::OPERAND;

            fn schema(types: &mut #private::SchemaTypes) -> #private::BsonDocument {
                #inner::schema(types)
            }
        }
    }
}
