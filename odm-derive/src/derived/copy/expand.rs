//! Copies: their description, and the checks of their types.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Type, spanned::Spanned};

use super::{Along, Copy, grammar::From};
use crate::{
    model::{CopiedField, Head, Member, Structure},
    types,
};

/// ```ignore
/// copy::<PartLink>(0)
/// ```
///
/// Where there are parameters, on which no constant of its own can depend, after the check.
pub(super) fn shape(
    head: &Head,
    structure: &Structure,
    of: &Member,
    copy: &Copy,
) -> Option<TokenStream> {
    let private = &head.private;
    let this = &structure.this;
    let position = position(structure, of)?;
    let ty = &of.ty;
    let mut shape = quote!(#private::copy::<#this>(#position));
    if !head.is_dependent(ty) {
        shape = quote!(#shape.copied(#private::Probe::<#ty>::INNER));
    }
    Some(if head.generics.params.is_empty() {
        shape
    } else {
        let check = copy.check(head, structure, position);
        quote!({ #check #shape })
    })
}

/// ```ignore
/// copy_reads::<PartLink>(0)
/// ```
pub(super) fn reads(head: &Head, structure: &Structure, of: &Member) -> Option<TokenStream> {
    let private = &head.private;
    let this = &structure.this;
    let position = position(structure, of)?;
    Some(quote!(#private::copy_reads::<#this>(#position)))
}

/// The position of a copy in `COPIES`.
fn position(structure: &Structure, of: &Member) -> Option<usize> {
    let mut copies = structure.copies();
    copies.position(|(member, _)| std::ptr::eq(member, of))
}

/// ```ignore
/// copied::<Product, _>(step(fields_of::<Product>().price).currency)
///     .copied_as::<String>()
///     .where_(is_single(fields_of::<Product>().price), "..")
///     .where_(!Probe::<String>::RELATED || Probe::<String>::EMBEDDED || Probe::<String>::SUBSET || .., "..")
///     .where_(!holds_references(Probe::<String>::OUTLINE), "..")
///     .along(
///         beside::<Product, _, _, _>(fields_of::<PartLink>().id),
///         Declared {
///             none: Probe::<String>::NONE,
///             optional: Probe::<String>::OPTIONAL,
///             frozen: false,
///             unchecked: false,
///             skipped: false,
///             deferred: false,
///         },
///     )
/// // or, backwards, for a `Vec<i64>`
/// copied::<Product, _>(fields_of::<Product>().catalog_number)
///     .listed_as::<Vec<i64>>()
///     ..
///     .along_back(back::<Part, Product, Product, _, _, _>(fields_of::<Product>().parts), Declared { .. })
/// ```
///
/// The source fixes the type first, so that an error names both.
fn copied(head: &Head, structure: &Structure, member: &Member, copy: &Copy) -> TokenStream {
    let (from, frozen, ty) = (&copy.from, copy.frozen, &member.ty);
    let (unchecked, skipped) = (copy.unchecked, member.skipped.is_some());
    let deferred = copy.deferred;
    let (document, span) = (&from.ty, from.literal.span());
    // So that calls as a whole stand where the literal does.
    let private = head.private_at(span);
    let lists = "a copy has one source, and `{}` is a list or a map";
    let (source, singles) = followed(head, from, "is_single", lists);
    let declared = quote_spanned! {span=>
        #private::Declared {
            none: #private::Probe::<#ty>::NONE,
            optional: #private::Probe::<#ty>::OPTIONAL,
            frozen: #frozen,
            unchecked: #unchecked,
            skipped: #skipped,
            deferred: #deferred,
        }
    };
    let (typed, known, along) = along(head, structure, member, copy, &declared);
    let references = "a reference, or a value that holds one, cannot be copied: copy a plain field, \
                      and follow the reference where it is";
    quote_spanned! {span=>
        #private::copied::<#document, _>(#source)
            .#typed
            #singles
            #known
            .where_(
                !#private::Probe::<#ty>::RELATED
                    || #private::Probe::<#ty>::EMBEDDED
                    || #private::Probe::<#ty>::SUBSET
                    || #private::Probe::<#ty>::ANCESTORS,
                #references
            )
            .where_(!#private::holds_references(#private::Probe::<#ty>::OUTLINE), #references)
            .#along
    }
}

/// The calls that check the type of a copy and the path of its reference, and the last one.
fn along(
    head: &Head,
    structure: &Structure,
    member: &Member,
    copy: &Copy,
    declared: &TokenStream,
) -> (TokenStream, TokenStream, TokenStream) {
    let (document, ty) = (&copy.from.ty, &member.ty);
    let span = copy.from.literal.span();
    match &copy.along {
        Along::Beside(field, at) => {
            let this = &structure.this;
            let private = head.private_at(*at);
            let beside = quote_spanned! {*at=>
                #private::beside::<#document, _, _, _>(#private::fields_of::<#this>().#field)
            };
            (
                quote_spanned!(span=> copied_as::<#ty>()),
                TokenStream::new(),
                quote_spanned!(span=> along(#beside, #declared)),
            )
        }
        Along::Back(via) => {
            let (this, holder, at) = (&head.this, &via.ty, via.literal.span());
            let maps =
                "references in a map, as in `{}`, cannot be followed: its keys are not known";
            let (reference, known) = followed(head, via, "is_followed", maps);
            let private = head.private_at(at);
            let back = quote_spanned!(at=> #private::back::<#this, #document, #holder, _, _, _>(#reference));
            (
                quote_spanned!(span=> listed_as::<#ty>()),
                known,
                quote_spanned!(span=> along_back(#back, #declared)),
            )
        }
    }
}

impl CopiedField for Copy {
    fn copied(&self, head: &Head, structure: &Structure, member: &Member) -> TokenStream {
        copied(head, structure, member, self)
    }

    fn check(&self, head: &Head, structure: &Structure, position: usize) -> TokenStream {
        let (this, span) = (&structure.this, self.from.literal.span());
        let private = head.private_at(span);
        quote_spanned!(span=> #private::check::<#this>(#position);)
    }

    /// A copy of a part of an `Option` is an `Option` as well.
    fn is_taken(&self, ty: &Type) -> bool {
        let ty = types::native(ty).unwrap_or(ty);
        self.from.path.len() == 1 || types::argument(ty, "Option").is_none()
    }

    /// ```ignore
    /// from_source::<_, String>(
    ///     &of_original(document, copied::<Part, _>(fields_of::<Part>().name).copied_as::<String>()).name,
    /// )
    /// ```
    fn taken(&self, head: &Head, ty: &Type, document: &Ident) -> TokenStream {
        let (path, span) = (&self.from.path, self.from.literal.span());
        // An error about the whole stands at the literal, or at the type.
        let mut document = document.clone();
        document.set_span(document.span().located_at(span));
        let original = original(head, &self.from, ty);
        let private = head.private_at(span);
        let value = quote_spanned!(span=> &#private::of_original(#document, #original) #(.#path)*);
        let private = head.private_at(ty.span());
        let value_type = types::native(ty).unwrap_or(ty);
        let taken = quote_spanned!(ty.span()=> #private::from_source::<_, #value_type>);
        quote!(#taken(#value))
    }
}

/// The source of a copy along a reference beside it, and its type, as [`copied`] begins: an error in it is
/// the same, and reported once.
fn original(head: &Head, from: &From, ty: &Type) -> TokenStream {
    let (document, span) = (&from.ty, from.literal.span());
    let private = head.private_at(span);
    let (source, _) = followed(head, from, "is_single", "");
    quote_spanned!(span=> #private::copied::<#document, _>(#source).copied_as::<#ty>())
}

/// The field of a document that a literal names, and a condition for each field on the way.
///
/// ```ignore
/// step(fields_of::<Product>().price).currency
/// .where_(is_single(fields_of::<Product>().price), "..")
/// ```
fn followed(head: &Head, from: &From, check: &str, message: &str) -> (TokenStream, TokenStream) {
    let (ty, span) = (&from.ty, from.literal.span());
    let private = head.private_at(span);
    let check = Ident::new(check, span);
    let mut names = from.path.iter();
    let mut last = names.next();
    let mut field = quote_spanned!(span=> #private::fields_of::<#ty>().#last);
    let mut checks = TokenStream::new();
    for name in names {
        let message = message.replace("{}", &last.map(types::name).unwrap_or_default());
        checks.extend(quote_spanned!(span=> .where_(#private::#check(#field), #message)));
        field = quote_spanned!(span=> #private::step(#field).#name);
        last = Some(name);
    }
    (field, checks)
}
