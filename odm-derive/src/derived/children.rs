//! The children that a derived field is computed from: the keys `via`, `filter` and `refresh`, and a field that depends on nothing else.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, LitStr, Meta, Path, Type, spanned::Spanned};

use super::{Declaration, reference_to};
use crate::{
    ast::Field,
    attr::value::{Once, function, keys_with, only, string, ty, unknown},
    ctxt::Ctxt,
    expand::declared_filter,
    model::{DerivedField, Head, Member, Structure},
    types::{self, ident},
};

/// A field that depends on which children there are, and on nothing in them: `of = "Child", via = "parent", filter = path, refresh = "later"`.
#[derive(Clone)]
pub(super) struct OfChildren {
    /// The attribute, and the function that describes such a field.
    attribute: &'static str,
    /// The child. `None` after an error only.
    of: Option<Type>,
    /// The child's reference to the holder.
    via: Option<ChildReference>,
    /// A function that returns a filter.
    filter: Option<Path>,
    /// Whether it follows the children after the unit that changes them.
    deferred: bool,
}

impl OfChildren {
    pub(super) fn new(cx: &Ctxt, attribute: &'static str, attr: &Attribute) -> Self {
        let mut of = Once::new("of");
        let mut via = Once::new("via");
        let mut filter = Once::new("filter");
        let mut refresh = Once::new("refresh");
        let before = cx.count();
        for (key, meta) in keys_with(cx, attr, Some("of")) {
            match key.as_str() {
                "of" => of.set(cx, &meta, ty(cx, &meta)),
                "via" => via.set(cx, &meta, self::via(cx, &meta)),
                "filter" => filter.set(cx, &meta, self::filter(cx, &meta)),
                "refresh" => refresh.set(cx, &meta, self::refresh(cx, &meta)),
                _ => unknown(cx, &meta, attribute, "`of`, `via`, `filter` or `refresh`"),
            }
        }
        let of = of.get();
        if of.is_none() && cx.count() == before {
            let message =
                format!("{attribute} without children: write `#[{attribute}(of = \"Child\")]`");
            cx.error(&attr.meta, message);
        }
        OfChildren {
            attribute,
            of,
            via: via.get(),
            filter: filter.get(),
            deferred: refresh.get().is_some(),
        }
    }
}

impl Declaration for OfChildren {
    fn field(&self, head: &Head, _: &[Field<'_>]) -> Option<Box<dyn DerivedField>> {
        let mut field = self.clone();
        field.of = field.of.map(|of| head.without_self(&of));
        Some(Box::new(field))
    }
}

impl DerivedField for OfChildren {
    /// ```ignore
    /// count::<u32>("reviews", children::<Review>(parent_path::<Review, Product, _, _>(), None, false))
    /// ```
    fn shape(&self, head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
        let Head { private, this, .. } = head;
        let (stored, ty) = (member.stored(structure), &member.ty);
        let child = self.of.as_ref()?;
        let via = match &self.via {
            Some(via) => emit_via(head, via, &quote!(#private::fields_of::<#child>())),
            None => quote_spanned! {child.span()=> #private::parent_path::<#child, #this, _, _>() },
        };
        let filter = declared_filter(head, self.filter.as_ref(), &quote!(#child));
        let deferred = self.deferred;
        let describe = format_ident!("{}", self.attribute, span = ty.span());
        Some(quote_spanned! {ty.span()=>
            #private::#describe::<#ty>(#stored, #private::children::<#child>(#via, #filter, #deferred))
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

/// The reference of the child to its parent: `via = "author.id"`.
#[derive(Clone)]
pub(crate) struct ChildReference {
    literal: LitStr,
    /// The Rust fields on the path to it.
    path: Vec<Ident>,
}

/// Reads the names of fields, from the top of the child.
pub(super) fn via(cx: &Ctxt, meta: &Meta) -> Option<ChildReference> {
    let literal = string(cx, meta)?;
    let text = literal.value();
    let path = text
        .split('.')
        .map(|name| ident(name.trim(), literal.span()))
        .collect::<Option<Vec<_>>>()
        // A model is named in the `via` of a copy.
        .filter(|_| !(text.contains('.') && text.starts_with(char::is_uppercase)));
    if path.is_none() {
        let message = format!(
            "`{text}` is not the name of a field of the child: write that of its reference, with dots \
             through embedded values"
        );
        cx.error(&literal, message);
    }
    Some(ChildReference {
        literal,
        path: path?,
    })
}

/// ```ignore
/// {
///     assert!(is_followed(child.author), "..");
///     path_to::<User, _, _, _>(step(child.author).id)
/// }
/// ```
pub(super) fn emit_via(head: &Head, via: &ChildReference, child: &TokenStream) -> TokenStream {
    let this = &head.this;
    let span = via.literal.span();
    let private = types::located(head.private.clone(), span);
    let mut names = via.path.iter();
    let mut last = names.next();
    let mut field = quote_spanned!(span=> #child.#last);
    let mut checks = TokenStream::new();
    for name in names {
        let message = format!(
            "references in a map, as in `{}`, have no path: its keys are not known",
            last.map(types::name).unwrap_or_default()
        );
        checks.extend(quote_spanned! {span=>
            ::core::assert!(#private::is_followed(#field), #message);
        });
        field = quote_spanned!(span=> #private::step(#field).#name);
        last = Some(name);
    }
    let path = quote_spanned!(span=> #private::path_to::<#this, _, _, _>(#field));
    if checks.is_empty() {
        path
    } else {
        quote_spanned!(span=> { #checks #path })
    }
}

/// Reads `refresh = "later"`.
pub(super) fn refresh(cx: &Ctxt, meta: &Meta) -> Option<()> {
    let without = "the field is right when the write of a child returns";
    only(cx, meta, "later", without)
}

/// A function that returns a filter.
pub(super) fn filter(cx: &Ctxt, meta: &Meta) -> Option<Path> {
    function(
        cx,
        meta,
        "returns a `Filter` of the child: `filter = published`",
    )
}
