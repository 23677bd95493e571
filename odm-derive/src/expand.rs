//! From a model to the implementations. All of it is data and one-line calls.

use proc_macro2::TokenStream;
use quote::quote;

use crate::model::{Head, Model};

mod children;
mod copies;
mod database;
mod document;
mod embed;
mod embedded;
mod filter;
mod item;
mod link;
mod new;
mod outline;
mod path;
mod projection;
mod reference;
mod related;
mod scalar;
mod schema;
mod split;
mod stored;
mod structure;

pub(crate) use children::{expand as children, no_parent};
pub(crate) use document::{generics as document_generics, into_id};
pub(crate) use embedded::embedded;
pub(crate) use filter::declared_filter;
pub(crate) use new::stub as new;
pub(crate) use path::at;
pub(crate) use projection::itself as projection;
pub(crate) use structure::expand as structure;

/// `RefersWithin` of any database.
pub(crate) fn refers_within(head: &Head) -> TokenStream {
    related::refers_within(head, std::iter::empty())
}

pub(crate) fn expand(model: &Model) -> TokenStream {
    match model {
        Model::Document(document) => {
            let items = wrap(&document.head, &document::expand(document));
            let new = document.new.as_ref();
            let new = new.map(|new| new::structure(&document.head, new));
            quote!(#items #new)
        }
        Model::Embed(embed) => wrap(&embed.head, &embed::expand(embed)),
        Model::Projection(projection) => wrap(&projection.head, &projection::expand(projection)),
        Model::Database(database) => wrap(&database.head, &database::expand(database)),
    }
}

/// Puts generated items where their names cannot meet the user's.
///
/// They follow the user's names and visibility, and a model may use only a part of them: the lints
/// that this sets off are not the user's to fix.
pub(crate) fn wrap(head: &Head, items: &TokenStream) -> TokenStream {
    let Head {
        library, private, ..
    } = head;
    quote! {
        #[doc(hidden)]
        #[allow(
            dead_code,
            deprecated,
            non_camel_case_types,
            non_snake_case,
            private_bounds,
            private_interfaces,
            unreachable_pub,
            unused_imports,
            unused_qualifications
        )]
        const _: () = {
            use #library::{self as #private, Unknown as _};
            #items
        };
    }
}
