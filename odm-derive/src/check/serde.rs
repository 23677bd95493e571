//! The rules for the attributes of serde on a field, so that each written value can be read back.

use crate::{
    ast::{Field, Input},
    ctxt::Ctxt,
    derive::Derive,
    types,
};

pub(super) fn check(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>) {
    if field.serde.skip.is_some() {
        return;
    }
    half_skipped(cx, input, field);
    converted(cx, input, field);
    left_out(cx, input, field);
}

/// A field that is only written or only read. A projection is never written.
fn half_skipped(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>) {
    let Some(half) = &field.serde.half_skip else {
        return;
    };
    let reads = half.is_ident("skip_serializing");
    if input.derive == Derive::Projection && reads {
        return;
    }
    let name = field.name();
    let what = if reads {
        format!("does not store `{name}`")
    } else {
        format!("does not read what is stored of `{name}`")
    };
    cx.error(
        half,
        format!(
            "this {what}: write `#[serde(skip)]` for a field that is not stored; to hide one from \
             others, give them a type of their own"
        ),
    );
}

/// A field that has a function for one direction.
fn converted(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>) {
    // Where the library reads it, no function may hide how it is stored.
    if read_by(input, field).is_some() {
        return;
    }
    let serde = &field.serde;
    let missing = match (&serde.with, serde.writes_with, serde.reads_with) {
        (Some(_), true, false) => "deserialize_with",
        (Some(_), false, true) if input.derive != Derive::Projection => "serialize_with",
        _ => return,
    };
    cx.error(
        &serde.with,
        format!(
            "`{}` must be written and read in one form: add `{missing} = \"..\"`, or write \
             `with = \"..\"` for both",
            field.name()
        ),
    );
}

/// A field that is left out of some documents. The compiler checks whether its type can be read from nothing.
fn left_out(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>) {
    let serde = &field.serde;
    let Some(skip) = &serde.skip_serializing_if else {
        return;
    };
    let at = &skip.at;
    if serde.flatten.is_some() {
        if types::argument(field.ty, "Option").is_none() {
            cx.error(
                at,
                "a flattened value has no default, and could not be read without its fields: remove \
                 `skip_serializing_if`, or put it on the fields in the value",
            );
        }
    } else if field.ident.is_none() {
        cx.error(
            at,
            "a value that is left out shifts those after it, or is the whole value: remove \
             `skip_serializing_if`",
        );
    } else if let (true, Some(function)) = (skip.is_none, &serde.default_function) {
        cx.error(
            function,
            format!(
                "`None` is left out, and would be read as what `{}` returns: remove \
                 `skip_serializing_if`, or write `default` without a function",
                function.value()
            ),
        );
    } else if serde.reads_with && !serde.default && !input.serde.default {
        cx.error(at, unreadable(&field.name()));
    }
}

/// The message for a field that is left out and has no default.
pub(crate) fn unreadable(name: &str) -> String {
    format!("a document without `{name}` cannot be read: add `default` to `skip_serializing_if`")
}

/// The reason why the library reads the field, for a message.
pub(super) fn read_by(input: &Input<'_>, field: &Field<'_>) -> Option<String> {
    if input.derive == Derive::Document && field.stored == "_id" {
        return Some("the `_id`".to_owned());
    }
    field.attrs.read_by().map(|mark| format!("`{mark}`"))
}
