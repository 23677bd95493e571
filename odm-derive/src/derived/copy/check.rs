//! The rules for copies.

use proc_macro2::Ident;
use quote::ToTokens;

use super::{
    grammar::{Denormalize, From, Via},
    references_to,
};
use crate::{
    ast::{Field, Input},
    check::list,
    ctxt::Ctxt,
    derive::Derive,
    types,
};

/// Checks a copy among the fields that it stands with.
pub(super) fn check(cx: &Ctxt, input: &Input<'_>, denormalize: &Denormalize, fields: &[Field<'_>]) {
    let Some(from) = &denormalize.from else {
        return;
    };
    if denormalize.freeze && denormalize.deferred {
        cx.error(
            &from.literal,
            "a frozen copy does not follow its source, neither at once nor later: remove `freeze` or `refresh`",
        );
    }
    match &denormalize.via {
        None => match references_to(&input.item.ident, fields, &from.ty).as_slice() {
            [] => nothing_to_follow(cx, input, from),
            [reference] => beside(cx, reference, from.literal.to_token_stream()),
            [first, second, ..] => cx.error(
                &from.literal,
                format!(
                    "several references could be meant: name one, such as by `via = \"{}\"` or \
                     `via = \"{}\"`",
                    first.name(),
                    second.name()
                ),
            ),
        },
        Some(Via::Beside(literal, name)) => match named(fields, name) {
            Some(reference) if reference.attrs.reference().is_some() => {
                beside(cx, reference, literal.to_token_stream());
            }
            Some(other) => cx.error(
                literal,
                format!("`{}` is not marked with `#[reference(..)]`", other.name()),
            ),
            None => cx.error(
                literal,
                format!(
                    "there is no field `{}` beside this one, only {}",
                    types::name(name),
                    list(fields)
                ),
            ),
        },
        Some(Via::Back(back)) if input.derive != Derive::Document => cx.error(
            &back.literal,
            "a reference names a document, not a value in it: move the copy to the document",
        ),
        Some(Via::Back(back)) if denormalize.freeze => cx.error(
            &back.literal,
            "the copies of all documents that refer to this one follow them, and cannot be frozen: \
             remove `freeze`",
        ),
        Some(Via::Back(_)) => {}
    }
}

fn nothing_to_follow(cx: &Ctxt, input: &Input<'_>, from: &From) {
    let source = types::written(&from.ty);
    let back = if input.derive == Derive::Document {
        format!(", or name a reference to this document by `via = \"{source}.field\"`")
    } else {
        String::new()
    };
    cx.error(
        &from.literal,
        format!(
            "no reference to follow: put a `Ref<{source}>` with `#[reference(..)]` beside the \
             copy{back}"
        ),
    );
}

fn beside(cx: &Ctxt, reference: &Field<'_>, at: impl ToTokens) {
    if types::is_written(reference.ty, "Vec") {
        cx.error(
            at,
            format!(
                "`{}` is a list of references, with no place for a copy beside each: make it a list \
                 of links, an embedded struct with the reference and its copies",
                reference.name()
            ),
        );
    }
}

fn named<'a>(fields: &'a [Field<'a>], name: &Ident) -> Option<&'a Field<'a>> {
    let name = types::name(name);
    fields.iter().find(|field| {
        field.ident.is_some_and(|ident| types::name(ident) == name) && field.serde.skip.is_none()
    })
}
