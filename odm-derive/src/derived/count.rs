//! Counts of children: `#[count(of = "Child", via = "parent", filter = path, refresh = "later")]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, Path, Type, spanned::Spanned};

use super::{
    Declaration, DerivedKind, Indexed,
    children::{self, ChildReference},
    reference_to,
};
use crate::{
    ast::Field,
    attr::value::{Once, keys_with, ty, unknown},
    ctxt::Ctxt,
    expand::declared_filter,
    model::{DerivedField, Head, Member, Structure},
};

pub(super) const KIND: DerivedKind = DerivedKind {
    attribute: "count",
    noun: "a count",
    is_embedded: false,
    is_optional: false,
    indexed: Indexed::Whole,
    read: |cx, attr| Box::new(Count::new(cx, attr)),
};

/// The number of children.
#[derive(Clone)]
struct Count {
    /// The child. `None` after an error only.
    of: Option<Type>,
    /// The child's reference to the holder.
    via: Option<ChildReference>,
    /// A function that returns a filter.
    filter: Option<Path>,
    /// Whether it follows the children after the unit that changes them.
    deferred: bool,
}

impl Count {
    fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let mut of = Once::new("of");
        let mut via = Once::new("via");
        let mut filter = Once::new("filter");
        let mut refresh = Once::new("refresh");
        let before = cx.count();
        for (key, meta) in keys_with(cx, attr, Some("of")) {
            match key.as_str() {
                "of" => of.set(cx, &meta, ty(cx, &meta)),
                "via" => via.set(cx, &meta, children::via(cx, &meta)),
                "filter" => filter.set(cx, &meta, children::filter(cx, &meta)),
                "refresh" => refresh.set(cx, &meta, children::refresh(cx, &meta)),
                _ => unknown(cx, &meta, "count", "`of`, `via`, `filter` or `refresh`"),
            }
        }
        let of = of.get();
        if of.is_none() && cx.count() == before {
            cx.error(
                &attr.meta,
                "count without children: write `#[count(of = \"Child\")]`",
            );
        }
        Count {
            of,
            via: via.get(),
            filter: filter.get(),
            deferred: refresh.get().is_some(),
        }
    }
}

impl Declaration for Count {
    fn field(&self, head: &Head, _: &[Field<'_>]) -> Option<Box<dyn DerivedField>> {
        let mut count = self.clone();
        count.of = count.of.map(|of| head.without_self(&of));
        Some(Box::new(count))
    }
}

impl DerivedField for Count {
    /// ```ignore
    /// count::<u32, Review>("reviews", parent_path::<Review, Product, _, _>(), None, false)
    /// ```
    fn shape(&self, head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
        let Head { private, this, .. } = head;
        let (stored, ty) = (member.stored(structure), &member.ty);
        let child = self.of.as_ref()?;
        let via = match &self.via {
            Some(via) => children::emit_via(head, via, &quote!(#private::fields_of::<#child>())),
            None => quote_spanned! {child.span()=> #private::parent_path::<#child, #this, _, _>() },
        };
        let filter = declared_filter(head, self.filter.as_ref(), &quote!(#child));
        let deferred = self.deferred;
        Some(quote_spanned! {ty.span()=>
            #private::count::<#ty, #child>(#stored, #via, #filter, #deferred)
        })
    }

    /// References only.
    fn reads(&self, _: &Head, _: &Structure, _: &Member) -> Option<TokenStream> {
        None
    }

    fn refers_to(&self, head: &Head, _: &Type) -> Option<TokenStream> {
        Some(reference_to(head, self.of.as_ref()?))
    }
}
