//! `ChildOf`: the documents that a document belongs to.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Generics, Type, parse_quote};

use super::path::at;
use crate::{
    model::{Head, Member, Place, Role, Structure},
    types,
};

/// A member of a document that a parent of it may be in.
struct Candidate {
    /// Two of the same key have one parent.
    key: String,
    parent: TokenStream,
    /// The embedded value that it is in, if it is in one.
    within: Option<TokenStream>,
    path: TokenStream,
    cardinality: TokenStream,
}

/// ```ignore
/// impl ChildOf<Product, Any, 0> for Review {
///     const PATH: &'static str = "product_id";
/// }
/// // of an embedded value, which may have a parent in it
/// impl<X, K> ChildOf<X, K, 1> for Review
/// where
///     Author: ParentIn<X, K>,
/// {
///     const PATH: &'static str =
///         <<Author as ParentIn<X, K>>::ParentPath<FieldPath<Root<Review>, Review, 3>> as Path>::TEXT;
/// }
/// ```
///
/// Where two references are to the same type, neither is *the* parent: none is implemented if the
/// tokens tell, and otherwise the position, which is to be inferred, is ambiguous where it is used.
pub(crate) fn expand(head: &Head, generics: &Generics, structure: &Structure) -> TokenStream {
    let Head { private, this, .. } = head;
    let members = || structure.members.iter();
    let own = members().filter_map(|member| match member.role {
        Role::Reference {
            parent: true, one, ..
        } => Some(reference(head, structure, member, one)),
        _ => None,
    });
    let within = members().filter_map(|member| match member.role {
        Role::Embed { recursive: false } if !head.is_recursive(&member.ty) => {
            Some(embedded(head, member))
        }
        _ => None,
    });
    let candidates: Vec<_> = own.chain(within).collect();
    let single = candidates.iter().filter(|candidate| {
        let same = |other: &&Candidate| other.key == candidate.key;
        candidates.iter().filter(same).count() == 1
    });
    let implementations = single.enumerate().map(|(position, candidate)| {
        let Candidate {
            parent,
            within,
            path,
            cardinality,
            ..
        } = candidate;
        let mut generics = generics.clone();
        if let Some(value) = within {
            generics.params.push(parse_quote!(#parent));
            generics.params.push(parse_quote!(#cardinality));
            let predicate = parse_quote!(#value: #private::ParentIn<#parent, #cardinality>);
            generics.make_where_clause().predicates.push(predicate);
        }
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        quote! {
            #[automatically_derived]
            impl #impl_generics #private::ChildOf<#parent, #cardinality, #position> for #this
            #where_clause
            {
                const PATH: &'static str = #path;
            }
        }
    });
    implementations.collect()
}

fn reference(head: &Head, structure: &Structure, member: &Member, one: bool) -> Candidate {
    let parent = parent(head, &member.ty);
    let path = member.stored(structure);
    Candidate {
        key: parent.to_string(),
        parent,
        within: None,
        path: quote!(#path),
        cardinality: cardinality(head, one),
    }
}

fn embedded(head: &Head, member: &Member) -> Candidate {
    let Head { private, this, .. } = head;
    let ty = &member.ty;
    let root = quote!(#private::Root<#this>);
    let place = match member.place {
        Place::At(position) => at(head, this, position, root),
        Place::Flattened { .. } | Place::Whole => root,
    };
    let (parent, cardinality) = (head.fresh("X"), head.fresh("K"));
    let value = quote!(<#ty as #private::ParentIn<#parent, #cardinality>>);
    Candidate {
        key: types::innermost(ty).to_token_stream().to_string(),
        parent: quote!(#parent),
        within: Some(quote!(#ty)),
        path: quote!(<#value::ParentPath<#place> as #private::Path>::TEXT),
        cardinality: quote!(#cardinality),
    }
}

/// The parent in an embedded value, which is around one `#[reference(parent)]`.
///
/// ```ignore
/// type Parent = User;
/// type ParentPath<P: Path> = FieldPath<P, Author, 0>;
/// type ParentCardinality = Any;
/// ```
pub(super) fn parent_within(head: &Head, structure: &Structure) -> TokenStream {
    let Head { private, path, .. } = head;
    let mut parents =
        structure
            .members
            .iter()
            .filter_map(|member| match (&member.role, member.place) {
                (
                    Role::Reference {
                        parent: true, one, ..
                    },
                    Place::At(position),
                ) => Some((member, position, *one)),
                _ => None,
            });
    let (Some((member, position, one)), None) = (parents.next(), parents.next()) else {
        return no_parent(head);
    };
    let parent = parent(head, &member.ty);
    let at = at(head, &structure.this, position, quote!(#path));
    let cardinality = cardinality(head, one);
    quote! {
        type Parent = #parent;
        type ParentPath<#path: #private::Path> = #at;
        type ParentCardinality = #cardinality;
    }
}

/// The parent in a value that is stored as the one in it.
pub(super) fn parent_of(head: &Head, inner: &Type) -> TokenStream {
    let Head { private, path, .. } = head;
    let inner = quote!(<#inner as #private::EmbedField>);
    quote! {
        type Parent = #inner::Parent;
        type ParentPath<#path: #private::Path> = #inner::ParentPath<#path>;
        type ParentCardinality = #inner::ParentCardinality;
    }
}

pub(crate) fn no_parent(head: &Head) -> TokenStream {
    let Head { private, path, .. } = head;
    quote! {
        type Parent = #private::NoParent;
        type ParentPath<#path: #private::Path> = #path;
        type ParentCardinality = ();
    }
}

fn cardinality(head: &Head, one: bool) -> TokenStream {
    let private = &head.private;
    if one {
        quote!(#private::AtMostOne)
    } else {
        quote!(#private::Any)
    }
}

/// The document that a reference is to.
///
/// A type that is written as such is taken apart here, so that a mistake in it is reported once.
fn parent(head: &Head, ty: &Type) -> TokenStream {
    let private = &head.private;
    match types::argument(types::innermost(ty), "Ref") {
        Some(target) => target.to_token_stream(),
        None => quote!(<#ty as #private::ReferenceField>::Target),
    }
}
