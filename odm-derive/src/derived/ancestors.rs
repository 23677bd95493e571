//! The documents above a document in a tree: `#[ancestors(via = "parent", refresh = "later")]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, Generics, Type, parse_quote, spanned::Spanned};

use super::{
    Declaration, DerivedKind, Indexed,
    children::{ReferencePath, reference, refresh},
};
use crate::{
    ast::{Field, Input},
    attr::value::{Once, keys_with, unknown},
    ctxt::Ctxt,
    model::{DerivedField, Head, Member, Place, Structure},
    types,
};

pub(super) const KIND: DerivedKind = DerivedKind {
    attribute: "ancestors",
    noun: "a list of ancestors",
    is_embedded: false,
    is_optional: false,
    indexed: Indexed::Whole,
    read: |cx, attr| Box::new(Ancestors::new(cx, attr)),
};

/// The attribute.
#[derive(Clone)]
struct Ancestors {
    /// The reference to the document above. `None` after an error only.
    via: Option<ReferencePath>,
    /// Whether it follows the documents above after the unit that changes them.
    deferred: bool,
}

impl Ancestors {
    fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let mut via = Once::new("via");
        let mut later = Once::new("refresh");
        let before = cx.count();
        for (key, meta) in keys_with(cx, attr, Some("via")) {
            match key.as_str() {
                "via" => via.set(cx, &meta, reference(cx, &meta, "this document")),
                "refresh" => later.set(cx, &meta, refresh(cx, &meta)),
                _ => unknown(cx, &meta, "ancestors", "`via` or `refresh`"),
            }
        }
        let via = via.get();
        if via.is_none() && cx.count() == before {
            let message = "ancestors without a reference: name the one to the document above, as in `#[ancestors(via = \"parent\")]`";
            cx.error(&attr.meta, message);
        }
        Ancestors {
            via,
            deferred: later.get().is_some(),
        }
    }
}

impl Declaration for Ancestors {
    fn check(&self, cx: &Ctxt, input: &Input<'_>, field: &Field<'_>, fields: &[Field<'_>]) {
        if let Some(via) = &self.via {
            via.check(cx, fields);
        }
        let this = &input.item.ident;
        let is_own = |field: &&Field<'_>| {
            let of = types::argument(field.ty, "Ancestors");
            let derived = field.attrs.derived();
            derived.is_some_and(|declared| declared.kind.attribute == KIND.attribute)
                && of.is_some_and(|of| {
                    types::is_written(of, "Self") || types::is_written(of, &types::name(this))
                })
        };
        let own: Vec<_> = fields.iter().filter(is_own).collect();
        if let [first, .., last] = own[..]
            && std::ptr::eq(last, field)
        {
            let message = format!(
                "a document is in one tree of its own kind, and `{}` has its ancestors already",
                first.name()
            );
            cx.error(field.ty, message);
        }
    }

    fn field(&self, _: &Head, _: &[Field<'_>]) -> Option<Box<dyn DerivedField>> {
        Some(Box::new(self.clone()))
    }
}

impl DerivedField for Ancestors {
    /// ```ignore
    /// ancestors::<Ancestors<Category>, _>(
    ///     "path",
    ///     along::<Ancestors<Category>, _, _, _>(fields_of::<Category>().parent),
    ///     false,
    /// )
    /// ```
    fn shape(&self, head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
        let (stored, ty, deferred) = (member.stored(structure), &member.ty, self.deferred);
        let lists = "a document is below one other, and `{}` is a list or a map: name a reference outside of it";
        let (field, checks) = self.via.as_ref()?.own(head, lists);
        let private = head.private_at(field.span());
        let along = quote_spanned!(field.span()=> #private::along::<#ty, _, _, _>(#field));
        let private = head.private_at(ty.span());
        let described =
            quote_spanned!(ty.span()=> #private::ancestors::<#ty, _>(#stored, #along, #deferred));
        Some(quote!({ #checks #described }))
    }

    /// A list follows from references alone.
    fn reads(&self, _: &Head, _: &Structure, _: &Member) -> Option<TokenStream> {
        None
    }

    fn refers_to(&self, _: &Head, _: &Type) -> Option<TokenStream> {
        None
    }

    /// ```ignore
    /// impl<T> AncestorsIn<T, 3> for Category
    /// where
    ///     Ancestors<Category>: AncestorsOf<T>,
    /// {
    ///     const PATH: &'static str = "path";
    /// }
    /// ```
    fn of_document(
        &self,
        head: &Head,
        structure: &Structure,
        generics: &Generics,
        member: &Member,
    ) -> Option<TokenStream> {
        let Place::At(position) = member.place else {
            return None;
        };
        let Head { private, this, .. } = head;
        let (stored, ty) = (member.stored(structure), &member.ty);
        let of = head.fresh("T");
        let mut generics = generics.clone();
        generics.params.push(parse_quote!(#of));
        let predicate = parse_quote!(#ty: #private::AncestorsOf<#of>);
        generics.make_where_clause().predicates.push(predicate);
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        Some(quote! {
            #[automatically_derived]
            impl #impl_generics #private::AncestorsIn<#of, #position> for #this #where_clause {
                const PATH: &'static str = #stored;
            }
        })
    }
}
