//! Subsets of children.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Generics, Type, parse_quote, spanned::Spanned};

use super::{Declaration, DerivedKind, Indexed, children};
use crate::{
    ast::{Field, Input},
    attr::index::Key,
    ctxt::Ctxt,
    expand::{at, declared_filter},
    model::{DerivedField, Head, Member, Place, Structure},
    types,
};

mod grammar;

use grammar::Subset;

pub(super) const KIND: DerivedKind = DerivedKind {
    attribute: "subset",
    noun: "a subset",
    is_embedded: false,
    is_optional: false,
    indexed: Indexed::Nothing,
    read: |cx, attr| Box::new(Subset::new(cx, attr)),
};

impl Declaration for Subset {
    fn check(&self, cx: &Ctxt, _: &Input<'_>, field: &Field<'_>, _: &[Field<'_>]) {
        // The compiler checks other types, such as an alias.
        if let Some(declared) = field.attrs.derived()
            && types::is_written(field.ty, "Vec")
        {
            cx.error(
                &declared.at,
                "a field with `#[subset(..)]` is a `Subset` of the child or of a projection of it",
            );
        }
    }

    fn field(&self, _: &Head, _: &[Field<'_>]) -> Option<Box<dyn DerivedField>> {
        Some(Box::new(self.clone()))
    }
}

impl DerivedField for Subset {
    fn shape(&self, head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
        Some(shape(head, member.stored(structure), &member.ty, self))
    }

    fn reads(&self, head: &Head, _: &Structure, member: &Member) -> Option<TokenStream> {
        Some(reads(head, &member.ty, self))
    }

    fn refers_to(&self, _: &Head, ty: &Type) -> Option<TokenStream> {
        Some(quote!(#ty))
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
    fn of_document(
        &self,
        head: &Head,
        _: &Structure,
        generics: &Generics,
        member: &Member,
    ) -> Option<TokenStream> {
        let (Place::At(position), Some(ident)) = (member.place, &member.ident) else {
            return None;
        };
        let Head { private, this, .. } = head;
        let item = head.fresh("T");
        let mut generics = generics.clone();
        generics.params.push(parse_quote!(#item));
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        let predicates = where_clause.iter().flat_map(|clause| &clause.predicates);
        let ty = &member.ty;
        let at = at(head, this, position, quote!(#private::Root<#this>));
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
    }

    fn shows_documents(&self) -> bool {
        true
    }
}

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
///         via: parent_path::<<Subset<ReviewSummary> as SubsetField>::Child, Product, _, _>(),
///         filter: None,
///         deferred: false,
///     })
/// }
/// ```
fn shape(head: &Head, stored: &str, ty: &Type, declared: &Subset) -> TokenStream {
    let this = &head.this;
    // Gives an error the span of the type alone.
    let private = head.private_at(ty.span());
    let (limit, deferred) = (declared.limit, declared.deferred);
    let sort = declared.sort.iter().flat_map(|(literal, keys)| {
        keys.iter()
            .map(|key| sort_key(head, ty, key, literal.span()))
    });
    let via = match &declared.via {
        Some(via) => children::emit_via(head, via, &quote!(#private::child::<#ty>().fields)),
        None => quote_spanned! {ty.span()=>
            #private::subset_path::<#ty, #this, _, _>()
        },
    };
    let child = quote_spanned!(ty.span()=> <#ty as #private::SubsetField>::Child);
    let filter = declared_filter(head, declared.filter.as_ref(), &child);
    let nested =
        "a subset cannot be shown inside a subset: show a projection of the child without it";
    quote_spanned! {ty.span()=> {
        ::core::assert!(!#private::child::<#ty>().nested, #nested);
        #private::subset::<#ty>(#stored, #private::DeclaredSubset {
            limit: #limit,
            sort: const { &[#(#sort),*] },
            via: #via,
            filter: #filter,
            deferred: #deferred,
        })
    }}
}

/// ```ignore
/// DerivedReads {
///     collection: <<Subset<ReviewSummary> as SubsetField>::Child as Document>::HASH,
///     paths: &[sort_path(child::<Subset<ReviewSummary>>().published_date)],
///     names: shown_names::<Subset<ReviewSummary>>(),
/// }
/// ```
fn reads(head: &Head, ty: &Type, declared: &Subset) -> TokenStream {
    // Gives an error the span of the type alone.
    let private = head.private_at(ty.span());
    let sort = declared.sort.iter().flat_map(|(literal, keys)| {
        keys.iter().map(|key| {
            let span = literal.span();
            let field = sort_field(head, ty, key, span);
            let private = head.private_at(span);
            quote_spanned!(span=> #private::sort_path(#field))
        })
    });
    quote_spanned! {ty.span()=>
        #private::DerivedReads {
            collection: #private::child::<#ty>().collection,
            paths: &[#(#sort),*],
            names: #private::child::<#ty>().names,
        }
    }
}

/// The typed field that a sort key names.
fn sort_field(head: &Head, ty: &Type, key: &Key, span: Span) -> TokenStream {
    let private = head.private_at(span);
    let mut names = key.path.iter();
    let first = names.next();
    // A wrong type is reported at the type.
    let at = head.private_at(ty.span());
    let child = quote_spanned!(ty.span()=> #at::child::<#ty>().fields);
    let child = quote_spanned!(span=> #child.#first);
    names.fold(
        child,
        |outer, name| quote_spanned!(span=> #private::step(#outer).#name),
    )
}

fn sort_key(head: &Head, ty: &Type, key: &Key, span: Span) -> TokenStream {
    let private = head.private_at(span);
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
