//! `Embed`, and the implementations beside it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Member, Type};

use super::{children, embedded::embedded, link, related, scalar, schema, structure};
use crate::{
    ast::Form,
    model::{Content, Embed, Head, Structure, VariantContent},
};

pub(super) fn expand(embed: &Embed) -> TokenStream {
    let head = &embed.head;
    let (content, parent, operand) = match &embed.content {
        Content::Fields { structure, link } => {
            let fields = structure::expand(head, structure);
            let related = related::expand(head, structure);
            let link = link
                .as_ref()
                .map(|link| link::expand(head, structure, link));
            let parent = children::parent_within(head, structure);
            let ordered = ordered(head, structure);
            let operand = operand(head, structure);
            (quote!(#fields #related #link #ordered), parent, operand)
        }
        Content::Wrapper {
            inner,
            field,
            recursive,
        } => {
            let is_recursive = *recursive || head.is_recursive(inner);
            let parent = if is_recursive {
                children::no_parent(head)
            } else {
                children::parent_of(head, inner)
            };
            (wrapper(head, inner, field, *recursive), parent, None)
        }
        Content::Scalar(scalar) => return scalar::expand(head, scalar),
    };
    let embedded = embedded(head, &head.this, &parent, operand);
    quote!(#content #embedded)
}

/// The stored names of an enum without content.
fn names(structure: &Structure) -> Option<Vec<&str>> {
    let forms = structure.forms.as_ref()?;
    let is_name = forms.iter().all(|variant| {
        variant.form == Form::External && matches!(variant.content, VariantContent::None)
    });
    is_name.then(|| forms.iter().map(|variant| variant.name.as_str()).collect())
}

/// The operands with which a request can compare an enum of names.
///
/// ```ignore
/// const OPERAND: Option<Operand> = Some(Operand::names(&["Draft", "Published"], true));
/// ```
fn operand(head: &Head, structure: &Structure) -> Option<TokenStream> {
    let private = &head.private;
    let names = names(structure)?;
    let is_ordered = is_alphabetical(&names);
    Some(quote! {
        const OPERAND: ::core::option::Option<#private::Operand> =
            #private::Some(#private::Operand::names(&[#(#names),*], #is_ordered));
    })
}

fn is_alphabetical(names: &[&str]) -> bool {
    names.is_sorted_by(|one, next| one < next)
}

/// An enum of names is stored as text, which has the order of the variants if their names have it.
///
/// ```ignore
/// impl Ordered for Grade {
///     type Present = Self;
/// }
/// ```
fn ordered(head: &Head, structure: &Structure) -> Option<TokenStream> {
    let is_ordered = is_alphabetical(&names(structure)?);
    let Head { private, this, .. } = head;
    let (impl_generics, _, where_clause) = head.generics.split_for_impl();
    is_ordered.then(|| {
        quote! {
            #[automatically_derived]
            impl #impl_generics #private::Ordered for #this #where_clause {
                type Present = Self;
            }
        }
    })
}

/// A struct that is stored as the one value in it has the fields of that value.
///
/// ```ignore
/// impl Structure for Price {
///     const NAMES: &'static [StoredName] = <Money as Structure>::NAMES;
///     const OUTLINE: &'static Outline = outline::<Money>();
///     type Fields<P: Path> = <Money as Structure>::Fields<P>;
///     fn shape() -> &'static Shape { wrapped::<Money>() }
/// }
/// ```
fn wrapper(head: &Head, inner: &Type, field: &Member, recursive: bool) -> TokenStream {
    let Head {
        private,
        path,
        this,
        ..
    } = head;
    let (impl_generics, _, where_clause) = head.generics.split_for_impl();
    let outline = if recursive || head.is_recursive(inner) {
        quote! {
            const OUTLINE: &'static #private::Outline = &#private::Outline {
                opaque: true,
                ..*#private::Outline::EMPTY
            };
        }
    } else {
        quote! {
            const OUTLINE: &'static #private::Outline = #private::outline::<#inner>();
            const FLATTENED: &'static [&'static #private::ShownNames] =
                <#inner as #private::Structure>::FLATTENED;
        }
    };
    let schema = schema::wrapper(head, inner, field);
    let related = related::refers_within(head, (!recursive).then(|| quote!(#inner)).into_iter());
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::Structure for #this #where_clause {
            const NAMES: &'static [#private::StoredName] = <#inner as #private::Structure>::NAMES;
            const FROM_NOTHING: bool = <#inner as #private::Structure>::FROM_NOTHING;
            const CLOSED: bool = <#inner as #private::Structure>::CLOSED;
            #outline
            type Fields<#path: #private::Path> = <#inner as #private::Structure>::Fields<#path>;

            fn shape() -> &'static #private::Shape {
                #private::wrapped::<#inner>()
            }

            #schema
        }

        #related
    }
}
