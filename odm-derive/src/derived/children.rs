//! The children that a derived field is computed from: the keys `of`, `via`, `filter` and `refresh`, and a field that is computed from at
//! most one field of each.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, LitStr, Meta, Path, Type, spanned::Spanned};

use super::{
    Declaration,
    copy::{From, from},
    reference_to,
};
use crate::{
    ast::Field,
    attr::value::{Once, flag, function, keys_with, only, string, ty, unknown},
    check::list,
    ctxt::Ctxt,
    expand::declared_filter,
    model::{DerivedField, Head, Member, Structure},
    types::{self, ident},
};

/// The part of its children that a field is computed from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// Which there are: `of = "Child"`.
    Nothing,
    /// A field: `of = "Child.field"`.
    Field,
    /// The same, with `recompute`.
    Amount,
}

/// A field that depends on which children there are, and on at most one field of each: `of = "Child", via = "parent", filter = path,
/// refresh = "later"`.
#[derive(Clone)]
pub(super) struct OfChildren {
    /// The attribute, and the function that describes such a field.
    attribute: &'static str,
    reads: Reads,
    /// The child. `None` after an error only.
    of: Option<Type>,
    /// The field of the child.
    field: Option<From>,
    /// The child's reference to the holder.
    via: Option<ReferencePath>,
    /// A function that returns a filter.
    filter: Option<Path>,
    /// Whether it follows the children after the unit that changes them.
    deferred: bool,
    /// Whether all children are read after each change.
    recompute: bool,
}

impl OfChildren {
    pub(super) fn new(cx: &Ctxt, attribute: &'static str, reads: Reads, attr: &Attribute) -> Self {
        let mut of = Once::new("of");
        let mut via = Once::new("via");
        let mut filter = Once::new("filter");
        let mut refresh = Once::new("refresh");
        let mut recompute = Once::new("recompute");
        let before = cx.count();
        let keys = match reads {
            Reads::Amount => "`of`, `via`, `filter`, `refresh` or `recompute`",
            _ => "`of`, `via`, `filter` or `refresh`",
        };
        for (key, meta) in keys_with(cx, attr, Some("of")) {
            match key.as_str() {
                "of" if reads == Reads::Nothing => {
                    of.set(cx, &meta, ty(cx, &meta).map(|ty| (ty, None)));
                }
                "of" => of.set(
                    cx,
                    &meta,
                    from(cx, &meta).map(|from| (from.ty.clone(), Some(from))),
                ),
                "via" => via.set(cx, &meta, reference(cx, &meta, "the child")),
                "filter" => filter.set(cx, &meta, self::filter(cx, &meta)),
                "refresh" => refresh.set(cx, &meta, self::refresh(cx, &meta)),
                "recompute" if reads == Reads::Amount => {
                    recompute.set(cx, &meta, flag(cx, &meta));
                }
                _ => unknown(cx, &meta, attribute, keys),
            }
        }
        let of = of.get();
        if of.is_none() && cx.count() == before {
            let child = match reads {
                Reads::Nothing => "Child",
                _ => "Child.field",
            };
            let message =
                format!("{attribute} without children: write `#[{attribute}(of = \"{child}\")]`");
            cx.error(&attr.meta, message);
        }
        let (of, field) = of.unzip();
        OfChildren {
            attribute,
            reads,
            of,
            field: field.flatten(),
            via: via.get(),
            filter: filter.get(),
            deferred: refresh.get().is_some(),
            recompute: recompute.get().is_some(),
        }
    }

    /// The typed field of the child, and the checks of the path to it.
    fn field(&self, head: &Head, child: &Type) -> Option<(TokenStream, TokenStream)> {
        let From { literal, path, .. } = self.field.as_ref()?;
        let private = head.private_at(literal.span());
        let child = quote_spanned!(literal.span()=> #private::fields_of::<#child>());
        let lists =
            "each child has one value, and `{}` is a list or a map: name a field outside of it";
        Some(steps(
            head,
            &child,
            path,
            literal.span(),
            ("is_single", lists),
        ))
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
    /// // or
    /// {
    ///     assert!(is_single(fields_of::<Line>().price), "..");
    ///     child_field(step(fields_of::<Line>().price).cents)
    ///         .sum::<i64>("total", children::<Line>(..), false)
    /// }
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
        let children = quote!(#private::children::<#child>(#via, #filter, #deferred));
        // An error about the type stands at it alone.
        let private = head.private_at(ty.span());
        let Some((field, checks)) = self.field(head, child) else {
            return Some(quote_spanned! {ty.span()=>
                #private::#describe::<#ty>(#stored, #children)
            });
        };
        let recompute = (self.reads == Reads::Amount)
            .then_some(self.recompute)
            .into_iter();
        let span = field.span();
        let private = head.private_at(span);
        let field = quote_spanned!(span=> #private::child_field(#field));
        let described = quote_spanned! {ty.span()=>
            .#describe::<#ty>(#stored, #children #(, #recompute)*)
        };
        Some(quote!({ #checks #field #described }))
    }

    /// Beside references, its field.
    fn reads(&self, head: &Head, _: &Structure, _: &Member) -> Option<TokenStream> {
        let child = self.of.as_ref()?;
        let (field, _) = self.field(head, child)?;
        let private = &head.private;
        // A call with the paths could not borrow them for ever.
        Some(quote! {
            #private::DerivedReads {
                paths: &[#private::sort_path(#field)],
                ..#private::child_reads::<#child>()
            }
        })
    }

    fn refers_to(&self, head: &Head, _: &Type) -> Option<TokenStream> {
        Some(reference_to(head, self.of.as_ref()?))
    }
}

/// The reference of a document to its parent: `via = "author.id"`.
#[derive(Clone)]
pub(crate) struct ReferencePath {
    literal: LitStr,
    /// The Rust fields on the path to it.
    path: Vec<Ident>,
}

impl ReferencePath {
    /// Checks that the path begins at one of these fields.
    pub(super) fn check(&self, cx: &Ctxt, fields: &[Field<'_>]) {
        let Some(first) = self.path.first().map(types::name) else {
            return;
        };
        let named =
            |field: &Field<'_>| field.ident.is_some_and(|ident| types::name(ident) == first);
        if !fields.iter().any(named) {
            let message = format!(
                "there is no field `{first}` beside this one, only {}",
                list(fields)
            );
            cx.error(&self.literal, message);
        }
    }

    /// The typed reference of the document itself, and the checks of the path to it, with the message about a list.
    ///
    /// ```ignore
    /// fields_of::<Issue>().project
    /// // or
    /// step(fields_of::<Issue>().book).id
    /// // with
    /// assert!(is_single(fields_of::<Issue>().book), "..");
    /// ```
    pub(super) fn own(&self, head: &Head, lists: &str) -> (TokenStream, TokenStream) {
        let (span, this) = (self.literal.span(), &head.this);
        let private = head.private_at(span);
        let from = quote_spanned!(span=> #private::fields_of::<#this>());
        steps(head, &from, &self.path, span, ("is_single", lists))
    }
}

/// Reads the names of fields, from the top of a document.
pub(super) fn reference(cx: &Ctxt, meta: &Meta, document: &str) -> Option<ReferencePath> {
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
            "`{text}` is not the name of a field of {document}: write that of its reference, with dots \
             through embedded values"
        );
        cx.error(&literal, message);
    }
    Some(ReferencePath {
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
pub(super) fn emit_via(head: &Head, via: &ReferencePath, child: &TokenStream) -> TokenStream {
    let this = &head.this;
    let span = via.literal.span();
    let private = head.private_at(span);
    let maps = "references in a map, as in `{}`, have no path: its keys are not known";
    let (field, checks) = steps(head, child, &via.path, span, ("is_followed", maps));
    let path = quote_spanned!(span=> #private::path_to::<#this, _, _, _>(#field));
    if checks.is_empty() {
        path
    } else {
        quote_spanned!(span=> { #checks #path })
    }
}

/// The field at the end of a path, and a check of each field on the way.
fn steps(
    head: &Head,
    from: &TokenStream,
    path: &[Ident],
    span: Span,
    (check, message): (&str, &str),
) -> (TokenStream, TokenStream) {
    let private = head.private_at(span);
    let check = Ident::new(check, span);
    let mut names = path.iter();
    let mut last = names.next();
    let mut field = quote_spanned!(span=> #from.#last);
    let mut checks = TokenStream::new();
    for name in names {
        let message = message.replace("{}", &last.map(types::name).unwrap_or_default());
        checks.extend(quote_spanned! {span=>
            ::core::assert!(#private::#check(#field), #message);
        });
        field = quote_spanned!(span=> #private::step(#field).#name);
        last = Some(name);
    }
    (field, checks)
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
