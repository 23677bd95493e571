//! The struct of a new document.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, Field, LitStr, spanned::Spanned};

use crate::{
    attr,
    model::{Document, Head, New},
    types,
};

/// ```ignore
/// /// The fields of a new `Task`, ..
/// #[derive(Serialize, Debug)]
/// #[serde(crate = "::odm::__private::serde")]
/// pub struct NewTask {
///     #[serde(rename = "dueDate")]
///     pub due_date: DateTime,
/// }
/// ```
///
/// It stands beside the document, where the user can name it.
pub(super) fn structure(head: &Head, new: &New) -> TokenStream {
    let Head { private, name, .. } = head;
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
    let serde = attr::text(&quote!(#private::serde));
    let serde = LitStr::new(&serde, ident.span());
    let attrs = attrs.iter().filter(|attr| is_copied(attr));
    let fields = fields.iter().map(|field| {
        let Field {
            attrs,
            vis,
            ident,
            ty,
            ..
        } = field;
        let attrs = attrs
            .iter()
            .filter(|attr| is_copied(attr) || attr.path().is_ident("doc"));
        quote!(#(#attrs)* #vis #ident: #ty)
    });
    quote! {
        #[doc = #doc]
        #[derive(#private::serde::Serialize, #derives)]
        #[serde(crate = #serde)]
        #(#attrs)*
        #vis struct #ident {
            #(#fields,)*
        }
    }
}

/// Whether an attribute says how a field is stored, or silences a lint.
fn is_copied(attr: &Attribute) -> bool {
    let path = attr.path();
    path.is_ident("serde") || path.is_ident("allow") || path.is_ident("expect")
}

/// ```ignore
/// impl Insertable<Task> for NewTask {
///     fn make_id() -> Option<ObjectId> { Some(make_id::<ObjectId>()) }
/// }
/// ```
pub(super) fn insertable(document: &Document, new: &New) -> TokenStream {
    let private = &document.head.private;
    let id = &document.id_type;
    let make = new.is_auto.then(|| {
        let located = types::located(private.clone(), id.span());
        let made = quote_spanned!(id.span()=> #located::make_id::<#id>());
        quote! {
            fn make_id() -> ::core::option::Option<#id> {
                ::core::option::Option::Some(#made)
            }
        }
    });
    implementation(&document.head, new, make)
}

/// What a document with a mistake has.
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
