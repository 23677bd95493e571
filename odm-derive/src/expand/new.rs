//! The struct of a new document.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, Field, LitStr, Meta, Token, punctuated::Punctuated, spanned::Spanned};

use crate::{
    ast::IdSource,
    attr,
    model::{Document, Head, New},
};

/// ```ignore
/// /// The fields of a new `Task`, ..
/// #[derive(Serialize, Debug)]
/// #[serde(crate = "::odm::derive::serde")]
/// pub struct NewTask {
///     #[serde(rename = "dueDate")]
///     pub due_date: DateTime,
/// }
/// ```
///
/// It stands beside the document, where the user can name it.
pub(super) fn structure(head: &Head, new: &New) -> TokenStream {
    let Head { library, name, .. } = head;
    let New {
        name: ident,
        derives,
        vis,
        attrs,
        fields,
        ..
    } = new;
    let doc = format!(
        " The fields of a new [`{name}`] that its caller gives; an insert sets the others, and returns the whole."
    );
    let serde = attr::text(&quote!(#library::serde));
    let serde = LitStr::new(&serde, ident.span());
    // The document's own path of serde counts for both.
    let is_named = attrs.iter().any(names_serde);
    let serde = (!is_named).then(|| quote!(#[serde(crate = #serde)]));
    let attrs = attrs.iter().filter_map(copied);
    let fields = fields.iter().map(|field| {
        let Field {
            attrs,
            vis,
            ident,
            ty,
            ..
        } = field;
        let docs = attrs.iter().filter(|attr| attr.path().is_ident("doc"));
        let attrs = attrs.iter().filter_map(copied);
        quote!(#(#docs)* #(#attrs)* #vis #ident: #ty)
    });
    quote! {
        #[doc = #doc]
        #[derive(#library::serde::Serialize, #derives)]
        #serde
        #(#attrs)*
        #vis struct #ident {
            #(#fields,)*
        }
    }
}

/// An attribute that says how a value is stored, or silences a lint, as the struct has it. A lint that is expected
/// in the document need not be found in the struct too.
fn copied(attr: &Attribute) -> Option<TokenStream> {
    let path = attr.path();
    match &attr.meta {
        Meta::List(list) if path.is_ident("expect") => {
            let lints = &list.tokens;
            Some(quote!(#[allow(#lints)]))
        }
        _ if path.is_ident("serde") || path.is_ident("allow") => Some(quote!(#attr)),
        _ => None,
    }
}

/// Whether an attribute says where serde is: `#[serde(crate = "..")]`.
fn names_serde(attr: &Attribute) -> bool {
    let mut is_named = false;
    if attr.path().is_ident("serde")
        && let Meta::List(list) = &attr.meta
    {
        let keys = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        is_named = keys.is_ok_and(|keys| keys.iter().any(|key| key.path().is_ident("crate")));
    }
    is_named
}

/// ```ignore
/// impl Insertable<Task> for NewTask {
///     fn make_id() -> Option<ObjectId> { Some(make_id::<ObjectId>()) }
/// }
/// ```
///
/// With a sequence instead:
///
/// ```ignore
///     fn id_of_number() -> Option<fn(i64) -> Option<i64>> { Some(id_of_number::<i64>) }
/// ```
pub(super) fn insertable(document: &Document, new: &New) -> TokenStream {
    let head = &document.head;
    let id = &document.id_type;
    let option = quote!(::core::option::Option);
    let located = head.private_at(id.span());
    let make = new.id_source.map(|source| match source {
        IdSource::Auto => {
            let made = quote_spanned!(id.span()=> #located::make_id::<#id>());
            quote! {
                fn make_id() -> #option<#id> {
                    #option::Some(#made)
                }
            }
        }
        IdSource::Sequence => {
            let made = quote_spanned!(id.span()=> #located::id_of_number::<#id>);
            quote! {
                fn id_of_number() -> #option<fn(::core::primitive::i64) -> #option<#id>> {
                    #option::Some(#made)
                }
            }
        }
    });
    implementation(&document.head, new, make)
}

/// The struct beside a document with a mistake.
pub(crate) fn stub(head: &Head, new: &New) -> (TokenStream, TokenStream) {
    (structure(head, new), implementation(head, new, None))
}

fn implementation(head: &Head, new: &New, make: Option<TokenStream>) -> TokenStream {
    let Head { private, this, .. } = head;
    let name = &new.name;
    quote! {
        #[automatically_derived]
        impl #private::Insertable<#this> for #name {
            #make
        }
    }
}
