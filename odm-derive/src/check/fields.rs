//! The rules for fields, wherever they are.

use super::{copies, name_tokens, references};
use crate::{
    ast::{Data, Derive, Field, Input},
    ctxt::Ctxt,
    types,
};

/// Checks the fields of a struct or of a variant.
pub(super) fn check(cx: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    for field in fields {
        always_stored(cx, field);
        references::check(cx, input, field);
        storage(cx, input, field);
    }
    copies::check(cx, input, fields);
    names(cx, fields);
    if let (Some(tag), Data::Struct(..)) = (&input.serde.tag, &input.data) {
        let name = tag.value();
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

/// Whether a derived field is stored in each document, and the key of a cold part has a valid name.
fn always_stored(cx: &Ctxt, field: &Field<'_>) {
    let always = if field.attrs.subset().is_some() {
        "a subset is always stored: remove `skip_serializing_if`"
    } else if field.attrs.count().is_some() {
        "a count is always stored: remove `skip_serializing_if`"
    } else if field.attrs.split().is_some() {
        "the field of a cold part is never in the document itself: remove `skip_serializing_if`"
    } else {
        ""
    };
    if let Some(skip) = &field.serde.skip_serializing_if
        && !always.is_empty()
    {
        cx.error(skip, always);
    }
    // Of other types, such as an alias, the compiler knows what they are.
    if let Some(subset) = field.attrs.subset()
        && types::is_written(field.ty, "Vec")
    {
        cx.error(
            &subset.at,
            "a field with `#[subset(..)]` is a `Subset` of the child or of a projection of it",
        );
    }
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
    let (attrs, serde) = (&field.attrs, &field.serde);
    let name = field.name();
    let is_id = input.derive == Derive::Document && field.stored == "_id";
    let read_by = if is_id {
        Some("the `_id`")
    } else {
        attrs.read_by()
    };
    let read_by = read_by.map(|by| {
        if by.starts_with('#') {
            format!("`{by}`")
        } else {
            by.into()
        }
    });

    if let (Some(skip), Some(by)) = (&serde.skip, &read_by) {
        cx.error(
            skip,
            format!("`#[serde(skip)]` keeps `{name}` out of the document, and {by} needs it there"),
        );
        return;
    }
    if let (Some(half), Some(by)) = (&serde.half_skip, &read_by) {
        cx.error(
            half,
            format!("`{name}` must be written and read alike, for {by}: remove this"),
        );
    }
    if let (Some(alias), Some(by)) = (&serde.alias, &read_by) {
        cx.error(
            alias,
            format!(
                "`{name}` is found under one stored name, for {by}: instead of an alias, rename it \
                 in the stored documents, by an update with `$rename`"
            ),
        );
    }
    if let (Some(with), Some(by)) = (&serde.with, &read_by) {
        cx.error(
            with,
            format!(
                "the library must know how `{name}` is stored, for {by}: instead of `with`, give it a \
                 type of its own whose `Serialize` and `Deserialize` do the same"
            ),
        );
    }
    if let Some(skip) = &serde.skip_serializing_if {
        let always = match attrs {
            _ if is_id => Some("an `_id`"),
            attrs if attrs.version().is_some() => Some("a version"),
            _ => None,
        };
        if let Some(what) = always {
            cx.error(
                skip,
                format!("{what} is always stored: remove `skip_serializing_if`"),
            );
        }
    }
    if let Some(flatten) = &serde.flatten {
        if attrs.denormalize().is_some() {
            cx.error(
                flatten,
                "a copy is stored under a name of its own: remove `flatten`",
            );
        } else if attrs.embed().is_none() {
            cx.error(
                flatten,
                format!(
                    "only an embedded value can be flattened: mark `{name}` with `#[embed]`. A map \
                     whose keys are not known cannot: keep it under a name of its own"
                ),
            );
        } else if let Some(index) = attrs.index() {
            cx.error(
                &index.at,
                format!(
                    "`{name}` is flattened and has no path of its own: declare the index by \
                     `#[document(index(fields = \"{name}.field\"))]`"
                ),
            );
        }
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
        seen.push(field);
    }
}

/// The fields that have a stored name.
pub(super) fn stored<'a>(fields: &'a [Field<'a>]) -> impl Iterator<Item = &'a Field<'a>> {
    fields.iter().filter(|field| {
        field.ident.is_some() && field.serde.skip.is_none() && field.serde.flatten.is_none()
    })
}

/// What is wrong with a stored name.
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
