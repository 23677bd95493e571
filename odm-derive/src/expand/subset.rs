//! Subsets of children, and the items that a subset can show.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Generics, Path, Type, parse_quote, spanned::Spanned};

use super::structure;
use crate::{
    attr::{Key, Subset},
    model::{Head, Place, Role, Structure},
    types,
};

/// ```ignore
/// {
///     assert!(!<Subset<ReviewSummary> as SubsetField>::NESTED, "..");
///     subset::<Subset<ReviewSummary>>("reviews", DeclaredSubset {
///         limit: 10,
///         sort: const { &[{
///             let field = child::<Subset<ReviewSummary>>().published_date;
///             assert!(is_hot(field), "..");
///             sort_key(field, Direction::Descending)
///         }] },
///         via: parent_path::<<Subset<ReviewSummary> as SubsetField>::Child, Product, _>(),
///         filter: None,
///     })
/// }
/// ```
pub(super) fn shape(head: &Head, stored: &str, ty: &Type, declared: &Subset) -> TokenStream {
    let this = &head.this;
    // Gives an error the span of the type alone.
    let private = types::located(head.private.clone(), ty.span());
    let limit = declared.limit;
    let sort = declared.sort.iter().flat_map(|(literal, keys)| {
        keys.iter()
            .map(|key| sort_key(head, ty, key, literal.span()))
    });
    let via = match &declared.via {
        Some((literal, field)) => quote_spanned! {literal.span()=>
            #private::path_to::<#this, _, _, _>(#private::child::<#ty>().#field)
        },
        None => quote_spanned! {ty.span()=>
            #private::parent_path::<<#ty as #private::SubsetField>::Child, #this, _>()
        },
    };
    let child = quote_spanned!(ty.span()=> <#ty as #private::SubsetField>::Child);
    let filter = filter(head, declared.filter.as_ref(), &child);
    let nested =
        "a subset cannot be shown inside a subset: show a projection of the child without it";
    quote_spanned! {ty.span()=> {
        ::core::assert!(!<#ty as #private::SubsetField>::NESTED, #nested);
        #private::subset::<#ty>(#stored, #private::DeclaredSubset {
            limit: #limit,
            sort: const { &[#(#sort),*] },
            via: #via,
            filter: #filter,
        })
    }}
}

/// ```ignore
/// ShownFields {
///     child: <<Subset<ReviewSummary> as SubsetField>::Child as Document>::HASH,
///     sort: &[sort_path(child::<Subset<ReviewSummary>>().published_date)],
///     names: shown_names::<Subset<ReviewSummary>>(),
/// }
/// ```
pub(super) fn shown(head: &Head, ty: &Type, declared: &Subset) -> TokenStream {
    // Gives an error the span of the type alone.
    let private = types::located(head.private.clone(), ty.span());
    let sort = declared.sort.iter().flat_map(|(literal, keys)| {
        keys.iter().map(|key| {
            let span = literal.span();
            let field = sort_field(head, ty, key, span);
            let private = types::located(head.private.clone(), span);
            quote_spanned!(span=> #private::sort_path(#field))
        })
    });
    quote_spanned! {ty.span()=>
        #private::ShownFields {
            child: <<#ty as #private::SubsetField>::Child as #private::Document>::HASH,
            sort: &[#(#sort),*],
            names: #private::shown_names::<#ty>(),
        }
    }
}

/// ```ignore
/// Some(|| subset_filter::<Review>(published()))
/// ```
pub(super) fn filter(head: &Head, filter: Option<&Path>, child: &TokenStream) -> TokenStream {
    let private = &head.private;
    match filter {
        Some(path) => quote_spanned! {path.span()=>
            ::core::option::Option::Some(|| #private::subset_filter::<#child>(#path()))
        },
        None => quote!(::core::option::Option::None),
    }
}

/// The typed field that a sort key names.
fn sort_field(head: &Head, ty: &Type, key: &Key, span: Span) -> TokenStream {
    let private = types::located(head.private.clone(), span);
    let mut names = key.path.iter();
    let first = names.next();
    // What is wrong with the type is reported at the type.
    let at = types::located(head.private.clone(), ty.span());
    let child = quote_spanned!(ty.span()=> #at::child::<#ty>());
    let child = quote_spanned!(span=> #child.#first);
    names.fold(
        child,
        |outer, name| quote_spanned!(span=> #private::step(#outer).#name),
    )
}

fn sort_key(head: &Head, ty: &Type, key: &Key, span: Span) -> TokenStream {
    let private = types::located(head.private.clone(), span);
    let field = sort_field(head, ty, key, span);
    let apart = "a subset is sorted by a field of the child itself, and this one is in its cold part: \
                 move it to the child";
    let direction = if key.descending {
        quote!(Descending)
    } else {
        quote!(Ascending)
    };
    let local = Ident::new("field", Span::mixed_site().located_at(span));
    quote_spanned! {span=> {
        let #local = #field;
        ::core::assert!(#private::is_hot(#local), #apart);
        #private::sort_key(#local, #private::Direction::#direction)
    }}
}

/// ```ignore
/// impl SubsetItem for ReviewSummary {
///     type Child = Review;
///     const SHOWN: Option<fn() -> &'static Shape> = Some(<Self as Structure>::shape);
///     const NESTED: bool = false;
///     const NAMES: &'static ShownNames = <Self as Structure>::SHOWN;
/// }
/// ```
pub(super) fn item(
    head: &Head,
    generics: &Generics,
    structure: &Structure,
    of: Option<&Type>,
) -> TokenStream {
    let Head { private, this, .. } = head;
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let marked = structure
        .members
        .iter()
        .any(|member| matches!(member.role, Role::Subset(_)));
    // Copies of subsets, and in projections, whose fields have no marks, all of them.
    let others = structure
        .members
        .iter()
        .filter(|member| of.is_some() || matches!(member.role, Role::Copy(_)))
        .filter(|member| !types::is_plain(&member.ty))
        .map(|member| &member.ty);
    let (child, shown) = match of {
        Some(of) => (
            quote!(#of),
            quote!(::core::option::Option::Some(<Self as #private::Structure>::shape)),
        ),
        None => (quote!(#this), quote!(::core::option::Option::None)),
    };
    quote! {
        #[automatically_derived]
        impl #impl_generics #private::SubsetItem for #this #where_clause {
            type Child = #child;
            const SHOWN: ::core::option::Option<fn() -> &'static #private::Shape> = #shown;
            const NESTED: bool = #marked #(|| #private::Probe::<#others>::SUBSET)*;
            const NAMES: &'static #private::ShownNames = <Self as #private::Structure>::SHOWN;
        }
    }
}

/// ```ignore
/// impl<T> HasSubset<FieldPath<Root<Product>, Product, 4>, T> for Product
/// where
///     Subset<ReviewSummary>: SubsetOf<T>,
/// {
///     fn subset(&self) -> &Subset<T> { SubsetOf::subset(&self.reviews) }
/// }
/// ```
///
/// The item is a parameter, so that the type of the field can be an alias.
pub(super) fn holder(head: &Head, generics: &Generics, structure: &Structure) -> TokenStream {
    let Head { private, this, .. } = head;
    let item = head.fresh("T");
    let mut generics = generics.clone();
    generics.params.push(parse_quote!(#item));
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let predicates: Vec<_> = where_clause
        .iter()
        .flat_map(|clause| &clause.predicates)
        .collect();
    let subsets = structure.members.iter().filter_map(|member| {
        let (Role::Subset(_), Place::At(position), Some(ident)) =
            (&member.role, member.place, &member.ident)
        else {
            return None;
        };
        let ty = &member.ty;
        let at = structure::at(head, this, position, quote!(#private::Root<#this>));
        Some(quote! {
            #[automatically_derived]
            impl #impl_generics #private::HasSubset<#at, #item> for #this
            where
                #(#predicates,)*
                #ty: #private::SubsetOf<#item>,
            {
                fn subset(&self) -> &#private::Subset<#item> {
                    #private::SubsetOf::subset(&self.#ident)
                }
            }
        })
    });
    subsets.collect()
}
