//! The rules for copies and counts.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::Path;

use super::list;
use crate::{
    ast::{Derive, Field, Input},
    attr::{Denormalize, From, Via},
    ctxt::Ctxt,
    model::references_to,
    types::{self, argument, is_written},
};

/// Checks the copies and counts among fields that stand together.
pub(super) fn check(cx: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    for field in fields {
        if let Some(denormalize) = &field.attrs.denormalize {
            alone(cx, input, field, &denormalize.at, "a copy");
            copy(cx, input, field, denormalize, fields);
        } else if let Some(count) = &field.attrs.count {
            alone(cx, input, field, &count.at, "a count");
            if let Some(skip) = &field.serde.skip_serializing_if {
                cx.error(
                    skip,
                    "a count is always stored: remove `skip_serializing_if`",
                );
            }
        }
    }
}

/// The library keeps the field, and nothing else does.
fn alone(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>, at: &Path, what: &str) {
    let attrs = &field.attrs;
    let others = [
        attrs.embed.as_ref().map(|other| &other.at),
        attrs.reference.as_ref().map(|other| &other.at),
        attrs.subset.as_ref().map(|other| &other.at),
        attrs.count.as_ref().map(|other| &other.at),
        attrs.version.as_ref(),
    ];
    for other in others.into_iter().flatten().filter(|other| *other != at) {
        cx.error(
            other,
            format!("the library keeps {what} by itself: remove this"),
        );
    }
    if input.derive == Derive::Document && field.stored == "_id" {
        cx.error(
            at,
            format!("an `_id` never changes, and so is not {what}: give it a field of its own"),
        );
    }
}

fn copy(
    cx: &Ctxt,
    input: &Input<'_>,
    field: &Field<'_>,
    denormalize: &Denormalize,
    fields: &[Field<'_>],
) {
    if let Some(skip) = &field.serde.skip_serializing_if
        && argument(field.ty, "Option").is_none()
    {
        cx.error(
            skip,
            "a copy that is no `Option` is always stored: remove `skip_serializing_if`",
        );
    }
    let Some(from) = &denormalize.from else {
        return;
    };
    match &denormalize.via {
        None => match references_to(&input.item.ident, fields, &from.ty).as_slice() {
            [] => nothing_to_follow(cx, input, from),
            [reference] => beside(cx, field, reference, from.literal.to_token_stream()),
            [first, second, ..] => cx.error(
                &from.literal,
                format!(
                    "two references could be meant: name one by `via = \"{}\"` or `via = \"{}\"`",
                    first.name(),
                    second.name()
                ),
            ),
        },
        Some(Via::Beside(literal, name)) => match named(fields, name) {
            Some(reference) if reference.attrs.reference.is_some() => {
                beside(cx, field, reference, literal.to_token_stream());
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
        Some(Via::Back(back)) => self::back(cx, input, field, from, back),
    }
}

fn nothing_to_follow(cx: &Ctxt, input: &Input<'_>, from: &From) {
    let source = types::written(&from.ty);
    let back = if input.derive == Derive::Document {
        format!(", or name one that leads here by `via = \"{source}.field\"`")
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

/// The reference has a place for copies beside it.
fn beside(cx: &Ctxt, field: &Field<'_>, reference: &Field<'_>, at: impl ToTokens) {
    let attrs = reference.attrs.reference.as_ref();
    if argument(reference.ty, "Vec").is_some() {
        cx.error(
            at,
            format!(
                "`{}` is a list of references, with no place for a copy beside each: make it a list \
                 of links, an embedded struct with the reference and its copies",
                reference.name()
            ),
        );
    } else if reference.ident.is_none() {
        cx.error(at, "the reference has no name: name the fields");
    } else if attrs.is_some_and(|attrs| attrs.unchecked.is_some())
        && argument(field.ty, "Option").is_none()
    {
        cx.error(
            at,
            format!(
                "`{}` is `unchecked`, and where it leads nowhere there is nothing to copy: make the \
                 copy an `Option`",
                reference.name()
            ),
        );
    }
}

fn back(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>, from: &From, back: &From) {
    if input.derive != Derive::Document {
        cx.error(
            &back.literal,
            "a reference leads to a document, not to a value in it: move the copy to the document",
        );
    } else if !types::is_same_name(&back.ty, &from.ty, &input.item.ident) {
        cx.error(
            &back.literal,
            format!(
                "what is copied is in `{}`, and so is the reference that is followed: write \
                 `via = \"{0}.field\"`",
                types::written(&from.ty)
            ),
        );
    } else if !is_written(field.ty, "Vec") {
        cx.error(
            field.ty,
            "several documents can refer to this one: the copy of a field of each is a `Vec`",
        );
    }
}

fn named<'a>(fields: &'a [Field<'a>], name: &Ident) -> Option<&'a Field<'a>> {
    let name = types::name(name);
    fields.iter().find(|field| {
        field.ident.is_some_and(|ident| types::name(ident) == name) && field.serde.skip.is_none()
    })
}
