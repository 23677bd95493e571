//! The names that serde needs in a stored value to read it, and the checks that it writes them.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Type, spanned::Spanned};

use crate::{
    check::unreadable,
    derive::Derive,
    model::{Head, Member, Optional, Place, Role, Structure},
    types,
};

/// ```ignore
/// const NAMES: &'static [StoredName] = &[
///     StoredName { text: "tags", hash: 0x.., optional: Probe::<Vec<String>>::OPTIONAL, defaulted: false },
/// ];
/// ```
///
/// One constant for all: the compiler spends more time on a constant than on a name in it.
pub(super) fn names(head: &Head, structure: &Structure) -> TokenStream {
    let private = &head.private;
    let names = structure.names.iter().enumerate().map(|(position, name)| {
        let at = |member: &&Member| matches!(member.place, Place::At(at) if at == position);
        let member = structure.members.iter().find(at);
        let defaulted = member.is_some_and(|member| has_default(structure, member));
        let (text, hash) = (&name.text, types::fnv1a(&name.text));
        let (known, asked) = match &name.optional {
            Optional::Always => (Some(true), None),
            Optional::ByType(ty) if !types::is_scalar(ty) => {
                (None, Some(quote!(#private::Probe::<#ty>::OPTIONAL)))
            }
            Optional::Never | Optional::ByType(_) => (Some(false), None),
        };
        quote!(#private::StoredName {
            text: #text,
            hash: #hash,
            optional: #known #asked,
            defaulted: #defaulted,
        })
    });
    quote!(const NAMES: &'static [#private::StoredName] = &[#(#names),*];)
}

/// ```ignore
/// const FROM_NOTHING: bool = Probe::<i64>::FROM_NOTHING && true;
/// const CLOSED: bool = true;
/// ```
///
/// A constant that is false for most types is left out.
pub(super) fn constants(head: &Head, structure: &Structure) -> TokenStream {
    let private = &head.private;
    let users = || structure.members.iter().filter(|member| member.users);
    let needed = |member: &Member| {
        !has_default(structure, member)
            && (member.otherwise || head.is_dependent(&member.ty) || types::is_scalar(&member.ty))
    };
    let is_struct = structure.forms.is_none() && !structure.is_variant;
    let from_nothing = (is_struct && !users().any(needed)).then(|| {
        let parts = users()
            .filter(|member| !has_default(structure, member))
            .map(|member| {
                let ty = &member.ty;
                match member.place {
                    Place::At(_) => quote!(#private::Probe::<#ty>::FROM_NOTHING),
                    _ => quote!(#private::Probe::<#ty>::FLAT_FROM_NOTHING),
                }
            });
        quote!(const FROM_NOTHING: bool = true #(&& #parts)*;)
    });
    let closed = structure.is_closed.then(|| {
        quote!(
            const CLOSED: bool = true;
        )
    });
    quote!(#from_nothing #closed)
}

/// Whether serde has a default for it, which it asks for no flattened value.
pub(super) fn has_default(structure: &Structure, member: &Member) -> bool {
    let is_flat = matches!(member.place, Place::Flattened { .. });
    !is_flat && (member.defaulted || structure.defaulted)
}

/// ```ignore
/// const _: () = assert!(Probe::<Vec<String>>::FROM_NOTHING, "a document without `tags` ..");
/// const _: () = {
///     assert!(!Probe::<Audit>::CLOSED, "..");
///     assert_own_names::<Product>("audit", Probe::<Audit>::SHOWN, &[Probe::<Other>::SHOWN]);
/// };
/// ```
pub(super) fn checks(head: &Head, structure: &Structure) -> TokenStream {
    if head.has_type_params() {
        return TokenStream::new();
    }
    let left_out = structure
        .members
        .iter()
        .filter_map(|member| left_out(head, structure, member));
    let mut others: Vec<&Type> = Vec::new();
    let mut flattened = Vec::new();
    for member in structure.members.iter().filter(|member| member.users) {
        let is_flat = matches!(member.place, Place::Flattened { .. });
        let is_embedded = matches!(member.role, Role::Embed { .. });
        if !is_flat || !is_embedded || head.is_recursive(&member.ty) {
            continue;
        }
        flattened.push(flat(head, structure, member, &others));
        // Only one variant of an enum is there.
        if structure.forms.is_none() {
            others.push(&member.ty);
        }
    }
    quote!(#(#left_out)* #(#flattened)*)
}

/// The check of a field that serde may leave out.
fn left_out(head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
    let private = &head.private;
    let skipped = member.skipped.as_ref()?;
    let is_read = matches!(
        member.role,
        Role::Plain | Role::Embed { .. } | Role::Reference { .. }
    );
    if !is_read || has_default(structure, member) || !matches!(member.place, Place::At(_)) {
        return None;
    }
    let ty = &member.ty;
    let message = unreadable(&types::name(member.ident.as_ref()?));
    // A reference that is required has an error of its own.
    let required = matches!(member.role, Role::Reference { .. })
        .then(|| quote!(|| #private::is_required::<#ty>()));
    Some(quote_spanned! {skipped.span()=>
        const _: () = ::core::assert!(#private::Probe::<#ty>::FROM_NOTHING #required, #message);
    })
}

/// The checks of a value whose fields are stored in its place.
fn flat(head: &Head, structure: &Structure, member: &Member, others: &[&Type]) -> TokenStream {
    let private = &head.private;
    let this = &structure.this;
    let ty = &member.ty;
    let name = member.ident.as_ref().map(types::name).unwrap_or_default();
    // serde takes the tag of an enum out first.
    let is_struct = structure.forms.is_none();
    let closed = format!(
        "what is flattened into `{}` is read from all of its fields, and this type refuses those that it does \
         not know: remove its `deny_unknown_fields`",
        structure.name
    );
    let absent = format!(
        "each field of `{name}` can be missing, so that `None` would be read as a value without fields: remove \
         the `Option`, or store `{name}` under a name of its own"
    );
    let closed = is_struct.then(|| {
        quote_spanned! {ty.span()=>
            ::core::assert!(!#private::Probe::<#ty>::CLOSED, #closed);
        }
    });
    let absent = (head.derive != Derive::Projection && is_struct).then(|| {
        quote_spanned! {ty.span()=>
            ::core::assert!(!#private::Probe::<#ty>::NEVER_ABSENT, #absent);
        }
    });
    // Gives the call the span of the type.
    let at = head.private_at(ty.span());
    quote_spanned! {ty.span()=>
        const _: () = {
            #closed
            #absent
            #at::assert_own_names::<#this>(
                #name,
                #private::Probe::<#ty>::SHOWN,
                &[#(#private::Probe::<#others>::SHOWN),*],
            );
        };
    }
}
