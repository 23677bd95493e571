//! The rules for fields, wherever they are.

use super::{copies, name_tokens, references};
use crate::{
    ast::{Data, Derive, Field, Input},
    ctxt::Ctxt,
    types::argument,
};

/// Checks the fields of a struct or of a variant.
pub(super) fn check(cx: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    for field in fields {
        marks(cx, field);
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

/// Which of our attributes go together.
fn marks(cx: &Ctxt, field: &Field<'_>) {
    let attrs = &field.attrs;
    if let (Some(_), Some(reference)) = (&attrs.embed, &attrs.reference) {
        cx.error(
            &reference.at,
            "a field is either embedded or a reference: remove `#[embed]` or `#[reference]`",
        );
    }
    if let Some(subset) = &attrs.subset {
        let others = [
            attrs.embed.as_ref().map(|other| &other.at),
            attrs.reference.as_ref().map(|other| &other.at),
            attrs.index.as_ref().map(|other| &other.at),
            attrs.version.as_ref(),
        ];
        for other in others.into_iter().flatten() {
            cx.error(other, "the library keeps a subset by itself: remove this");
        }
        if argument(field.ty, "Subset").is_none() {
            cx.error(
                &subset.at,
                "a field with `#[subset(..)]` is a `Subset` of the child or of a projection of it",
            );
        }
        if let Some(skip) = &field.serde.skip_serializing_if {
            cx.error(
                skip,
                "a subset is always stored: remove `skip_serializing_if`",
            );
        }
    }
    if let Some(split) = &attrs.split {
        let others = [
            attrs.embed.as_ref().map(|other| &other.at),
            attrs.reference.as_ref().map(|other| &other.at),
            attrs.index.as_ref().map(|other| &other.at),
            attrs.subset.as_ref().map(|other| &other.at),
            attrs.version.as_ref(),
        ];
        for other in others.into_iter().flatten() {
            cx.error(
                other,
                "what is stored apart is a document of its own: remove this, or mark a field of it",
            );
        }
        if argument(field.ty, "Cold").is_none() {
            cx.error(
                &split.at,
                "a field with `#[split(..)]` is a `Cold` of a struct that derives `Embed`",
            );
        }
        if let Some(skip) = &field.serde.skip_serializing_if {
            cx.error(
                skip,
                "what is stored apart leaves no trace in the document anyway: remove \
                 `skip_serializing_if`",
            );
        }
        if let Some(problem) = problem(&split.key.value()) {
            cx.error(
                &split.key,
                format!(
                    "`{}` cannot be the name of a stored field: {problem}",
                    split.key.value()
                ),
            );
        }
    }
    if let Some(version) = &attrs.version
        && (attrs.embed.is_some() || attrs.reference.is_some())
    {
        cx.error(
            version,
            "a version is a number that the library counts: give it a field of its own",
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
            attrs if attrs.version.is_some() => Some("a version"),
            attrs if attrs.reference.is_some() && argument(field.ty, "Ref").is_some() => {
                Some("a reference that is no `Option`")
            }
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
        if attrs.denormalize.is_some() {
            cx.error(
                flatten,
                "a copy is stored under a name of its own: remove `flatten`",
            );
        } else if attrs.embed.is_none() {
            cx.error(
                flatten,
                format!(
                    "only an embedded value can be flattened: mark `{name}` with `#[embed]`. A map \
                     whose keys are not known cannot: keep it under a name of its own"
                ),
            );
        } else if let Some(index) = &attrs.index {
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
