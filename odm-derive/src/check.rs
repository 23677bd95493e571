//! The rules over several attributes. Every mistake is collected, and none stops the search.

use std::fmt::Display;

use quote::ToTokens;
use syn::{GenericParam, Type};

use crate::{
    ast::{Field, Input},
    ctxt::Ctxt,
    derive::Derive,
    types,
};

mod database;
mod document;
mod embed;
mod fields;
mod indexes;
mod projection;
mod references;
mod serde;
mod untagged;
mod variants;

pub(crate) use serde::unreadable;

/// Reports the mistakes in an input. An input that passes can be lowered to a model.
pub(crate) fn check(cx: &Ctxt, input: &Input<'_>) {
    generics(cx, input);
    match input.derive {
        Derive::Document => document::check(cx, input),
        Derive::Embed => embed::check(cx, input),
        Derive::Projection => projection::check(cx, input),
        Derive::Database => database::check(cx, input),
        // Checked where it is expanded.
        Derive::Patch => {}
    }
}

fn generics(cx: &Ctxt, input: &Input<'_>) {
    let generics = &input.item.generics;
    if input.derive == Derive::Database {
        if !generics.params.is_empty() {
            cx.error(
                generics,
                "a database is not generic: its models are known when it is compiled",
            );
        }
        return;
    }
    for param in &generics.params {
        if let GenericParam::Lifetime(lifetime) = param {
            cx.error(
                lifetime,
                "a stored value owns what is in it and cannot borrow: use owned types, such as \
                 `String` for `&str`",
            );
        }
    }
}

/// Whether a type has a borrow in it, at any depth.
pub(crate) fn borrowed(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Reference(_) => Some(ty),
        Type::Group(group) => borrowed(&group.elem),
        Type::Paren(paren) => borrowed(&paren.elem),
        Type::Array(array) => borrowed(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(borrowed),
        _ => types::arguments(ty).into_iter().find_map(borrowed),
    }
}

/// Reports that the derive does not fit `what`.
fn unsuitable(cx: &Ctxt, input: &Input<'_>, what: impl Display, instead: impl Display) {
    cx.error(
        &input.item.ident,
        format!(
            "`{}` cannot be derived for {what}: {instead}",
            input.derive.name()
        ),
    );
}

/// The tokens that give a field its stored name.
fn name_tokens(field: &Field<'_>) -> impl ToTokens {
    match (&field.serde.rename, field.ident) {
        (Some(rename), _) => rename.to_token_stream(),
        (None, Some(ident)) => ident.to_token_stream(),
        (None, None) => field.ty.to_token_stream(),
    }
}

/// Names in backticks, with commas.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a Field<'a>>) -> String {
    let names: Vec<String> = names
        .into_iter()
        .filter_map(|field| field.ident)
        .map(|ident| format!("`{}`", types::name(ident)))
        .collect();
    names.join(", ")
}
