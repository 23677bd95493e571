//! Numbers within a parent: `#[sequence(within = "project")]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, Type, spanned::Spanned};

use super::{
    Declaration, DerivedKind, Indexed,
    children::{ReferencePath, reference},
};
use crate::{
    ast::{Field, Input},
    attr::value::{Once, keys_with, unknown},
    ctxt::Ctxt,
    model::{DerivedField, Head, Member, Structure},
};

pub(super) const KIND: DerivedKind = DerivedKind {
    attribute: "sequence",
    noun: "a number within a parent",
    is_embedded: false,
    is_optional: true,
    indexed: Indexed::Whole,
    read: |cx, attr| Box::new(Sequence::new(cx, attr)),
};

/// The attribute.
#[derive(Clone)]
struct Sequence {
    /// The reference to the parent. `None` after an error only.
    within: Option<ReferencePath>,
}

impl Sequence {
    fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let mut within = Once::new("within");
        let before = cx.count();
        for (key, meta) in keys_with(cx, attr, Some("within")) {
            match key.as_str() {
                "within" => within.set(cx, &meta, reference(cx, &meta, "this document")),
                _ => unknown(cx, &meta, "sequence", "`within`"),
            }
        }
        let within = within.get();
        if within.is_none() && cx.count() == before {
            let message = "sequence without a parent: name the reference to it, as in `#[sequence(within = \"project\")]`; numbers of a whole \
                           collection are `_id`s, with `#[id(sequence)]`";
            cx.error(&attr.meta, message);
        }
        Sequence { within }
    }
}

impl Declaration for Sequence {
    fn check(&self, cx: &Ctxt, _: &Input<'_>, _: &Field<'_>, fields: &[Field<'_>]) {
        if let Some(within) = &self.within {
            within.check(cx, fields);
        }
    }

    fn field(&self, _: &Head, _: &[Field<'_>]) -> Option<Box<dyn DerivedField>> {
        Some(Box::new(self.clone()))
    }
}

impl DerivedField for Sequence {
    /// ```ignore
    /// within(fields_of::<Issue>().project).sequence::<i64>("number")
    /// ```
    fn shape(&self, head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
        let (stored, ty) = (member.stored(structure), &member.ty);
        let lists = "a number is within one parent, and `{}` is a list or a map: name a reference outside of it";
        let (field, checks) = self.within.as_ref()?.own(head, lists);
        let private = head.private_at(field.span());
        let within = quote_spanned!(field.span()=> #private::within(#field));
        let described = quote_spanned!(ty.span()=> .sequence::<#ty>(#stored));
        Some(quote!({ #checks #within #described }))
    }

    /// References are no derived fields.
    fn reads(&self, _: &Head, _: &Structure, _: &Member) -> Option<TokenStream> {
        None
    }

    fn refers_to(&self, _: &Head, _: &Type) -> Option<TokenStream> {
        None
    }
}
