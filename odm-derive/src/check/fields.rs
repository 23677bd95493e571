//! The rules for fields, wherever they are.

use syn::{LitStr, Path};

use super::{name_tokens, references, serde};
use crate::{
    ast::{Data, Field, Input},
    ctxt::Ctxt,
    derive::Derive,
};

/// Checks the fields of a struct or of a variant.
pub(super) fn check(cx: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    for field in fields {
        owned(cx, input, field);
        always_stored(cx, input, field);
        serde::check(cx, input, field);
        single(cx, field);
        references::check(cx, input, field);
        storage(cx, input, field);
    }
    for field in fields {
        if let Some(declared) = field.attrs.derived() {
            declared.declaration.check(cx, input, field, fields);
        }
    }
    names(cx, fields);
    if let (Some(tag), Data::Struct(..)) = (&input.serde.tag, &input.data) {
        struct_tag(cx, input, tag, fields);
    }
    if let Some(deny) = &input.serde.deny_unknown_fields
        && fields.iter().any(|field| field.serde.flatten.is_some())
    {
        cx.error(
            deny,
            "serde does not support `deny_unknown_fields` beside `flatten`: remove one of the two",
        );
    }
}

/// The tag of a struct, which serde writes and does not read.
fn struct_tag(cx: &Ctxt, input: &Input<'_>, tag: &LitStr, fields: &[Field<'_>]) {
    let name = tag.value();
    key(cx, tag);
    let same = |field: &&Field<'_>| field.stored == name || field.name() == name;
    if let Some(field) = stored(fields).find(same) {
        cx.error(
            tag,
            format!(
                "the tag and the field `{}` have the same name",
                field.name()
            ),
        );
    }
    if let Some(deny) = &input.serde.deny_unknown_fields {
        cx.error(
            deny,
            "serde stores the tag of a struct, and then takes it for an unknown field: remove \
             `deny_unknown_fields` or the tag",
        );
    }
}

/// Whether a name under which serde stores a tag or a content is one.
pub(super) fn key(cx: &Ctxt, key: &LitStr) {
    let name = key.value();
    if let Some(problem) = problem(&name) {
        cx.error(
            key,
            format!("`{name}` cannot be the name of a stored field: {problem}"),
        );
    }
}

/// Whether a stored value owns its content. A lifetime among the parameters is reported for the item.
fn owned(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>) {
    if input.item.generics.lifetimes().next().is_none()
        && field.serde.skip.is_none()
        && let Some(ty) = super::borrowed(field.ty)
    {
        cx.error(
            ty,
            "a stored value owns what is in it and cannot borrow: use owned types, such as `String` for \
             `&str`",
        );
    }
}

/// Whether a field that the library reads in each document is stored in each.
fn always_stored(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>) {
    let Some(skip) = field
        .serde
        .skip_serializing_if
        .as_ref()
        .map(|skip| &skip.at)
    else {
        return;
    };
    let attrs = &field.attrs;
    if attrs.split().is_some() {
        cx.error(
            skip,
            "the field of a cold part is never in the document itself: remove `skip_serializing_if`",
        );
        return;
    }
    let what = if input.derive == Derive::Document && field.stored == "_id" {
        "an `_id`"
    } else if attrs.version().is_some() {
        "a version"
    } else if attrs.write_time().is_some() {
        "the time of a write"
    } else if let Some(declared) = attrs.derived()
        && !declared.kind.is_optional
    {
        declared.kind.noun
    } else {
        return;
    };
    cx.error(
        skip,
        format!("{what} is always stored: remove `skip_serializing_if`"),
    );
}

/// The rules for a cold part alone.
fn single(cx: &Ctxt, field: &Field<'_>) {
    if let Some(split) = field.attrs.split()
        && let Some(problem) = problem(&split.key.value())
    {
        cx.error(
            &split.key,
            format!(
                "`{}` cannot be the name of a stored field: {problem}",
                split.key.value()
            ),
        );
    }
}

/// Whether serde stores the field so that the library can find and understand it.
fn storage(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>) {
    let serde = &field.serde;
    let name = field.name();
    if let Some(by) = serde::read_by(input, field) {
        if let Some(skip) = &serde.skip {
            cx.error(
                skip,
                format!(
                    "`#[serde(skip)]` keeps `{name}` out of the document, and {by} needs it there"
                ),
            );
            return;
        }
        if let Some(with) = &serde.with {
            let native = match field.attrs.reference() {
                Some(_) => "",
                None => " write `with = \"odm::native\"`, if that knows its type, or",
            };
            cx.error(
                with,
                format!(
                    "the library must know how `{name}` is stored, for {by}: instead of this `with`,{native} \
                     give it a type of its own whose `Serialize` and `Deserialize` do the same"
                ),
            );
        }
    }
    if let Some(flatten) = &serde.flatten {
        flattened(cx, field, flatten);
    }
}

fn flattened(cx: &Ctxt, field: &Field<'_>, flatten: &Path) {
    let name = field.name();
    if let Some(declared) = field.attrs.derived() {
        let noun = declared.kind.noun;
        cx.error(
            flatten,
            format!("{noun} is stored under a name of its own: remove `flatten`"),
        );
    } else if field.attrs.embed().is_none() {
        cx.error(
            flatten,
            format!(
                "only an embedded value can be flattened: mark `{name}` with `#[embed]`. A map whose \
                 keys are not known cannot: keep it under a name of its own"
            ),
        );
    } else if let Some(index) = field.attrs.index() {
        cx.error(
            &index.at,
            format!(
                "`{name}` is flattened and has no path of its own: declare the index by \
                 `#[document(index(fields = \"{name}.field\"))]`"
            ),
        );
    }
}

/// Whether each stored name is one, and none is used twice.
fn names(cx: &Ctxt, fields: &[Field<'_>]) {
    let mut seen: Vec<&Field<'_>> = Vec::new();
    for field in stored(fields) {
        if let Some(problem) = problem(&field.stored) {
            cx.error(
                name_tokens(field),
                format!(
                    "`{}` cannot be the name of a stored field: {problem}",
                    field.stored
                ),
            );
        }
        if let Some(mark) = field.attrs.read_by()
            && !field.stored.is_empty()
            && field.stored.bytes().all(|byte| byte.is_ascii_digit())
        {
            cx.error(
                name_tokens(field),
                format!(
                    "`{0}` cannot be the stored name of a field with `{mark}`: in a path, a number is a \
                     position in a list",
                    field.stored
                ),
            );
        }
        if let Some(other) = seen.iter().find(|other| other.stored == field.stored) {
            cx.error(
                name_tokens(field),
                format!(
                    "`{}` and `{}` are both stored as `{}`",
                    other.name(),
                    field.name(),
                    field.stored
                ),
            );
        }
        public_name(cx, field, &seen);
        seen.push(field);
    }
}

/// Checks the name under which clients see a field, beside the names of the fields before it.
fn public_name(cx: &Ctxt, field: &Field<'_>, before: &[&Field<'_>]) {
    let renamed = |field: &Field<'_>| field.attrs.public().map(|public| public.name.clone());
    let name_of = |field: &Field<'_>| match renamed(field) {
        None => Some(field.stored.clone()),
        Some(name) => name.map(|name| name.value()),
    };
    let Some(name) = name_of(field) else {
        return;
    };
    let own = renamed(field).flatten();
    if let Some((own, problem)) = own.as_ref().zip(problem(&name)) {
        cx.error(
            own,
            format!("`{name}` cannot be a name that clients see: {problem}"),
        );
    }
    let same = before
        .iter()
        .find(|other| name_of(other).as_ref() == Some(&name));
    if let Some(other) = same
        && let Some(at) = own.or_else(|| renamed(other).flatten())
    {
        let message = format!(
            "clients see `{}` and `{}` as `{name}`",
            other.name(),
            field.name()
        );
        cx.error(at, message);
    }
}

/// Reports a field without a name that clients are to see otherwise.
pub(super) fn nameless(cx: &Ctxt, field: &Field<'_>) {
    if let Some(public) = field.attrs.public() {
        cx.error(
            &public.at,
            "clients see the value itself here, and no name of it: mark the named field that holds it",
        );
    }
}

/// The fields that have a stored name.
pub(super) fn stored<'a>(fields: &'a [Field<'a>]) -> impl Iterator<Item = &'a Field<'a>> {
    fields.iter().filter(|field| {
        field.ident.is_some() && field.serde.skip.is_none() && field.serde.flatten.is_none()
    })
}

/// The problem with a stored name.
pub(super) fn problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("it is empty")
    } else if name.contains('.') {
        Some("a dot separates the parts of a path")
    } else if name.starts_with('$') {
        Some("names with `$` are operators")
    } else if name.contains('\0') {
        Some("it holds a NUL")
    } else {
        None
    }
}
