//! The rules for documents.

use syn::{LitStr, Path};

use super::{fields, indexes, unsuitable};
use crate::{
    ast::{Data, Field, Input, Style},
    attr::{self, Renamed, value::meant},
    ctxt::Ctxt,
    types,
};

pub(super) fn check(cx: &Ctxt, input: &Input<'_>) {
    let fields = match &input.data {
        Data::Struct(Style::Named, fields) => fields,
        Data::Struct(..) => {
            return unsuitable(
                cx,
                input,
                "a struct without named fields",
                "name its fields",
            );
        }
        Data::Enum(_) => {
            let instead =
                "make it a field of a struct that is one, and derive `Embed` for the enum";
            return unsuitable(cx, input, "an enum", instead);
        }
        Data::Union => return unsuitable(cx, input, "a union", "use a struct"),
    };
    collection(cx, input);
    cold_parts(cx, input, fields);
    container(cx, input);
    fields::check(cx, input, fields);
    id(cx, input, fields);
    new(cx, input, fields);
    once(
        cx,
        fields,
        "version",
        "the version",
        attr::FieldAttributes::version,
    );
    once(
        cx,
        fields,
        "time",
        "the time of the insert",
        attr::FieldAttributes::created_at,
    );
    once(
        cx,
        fields,
        "time",
        "the time of the last change",
        attr::FieldAttributes::updated_at,
    );
    renamed(cx, input, fields);
    indexes::check(cx, input, fields);
}

fn collection(cx: &Ctxt, input: &Input<'_>) {
    let Some(collection) = &input.attrs.collection else {
        if !input.attrs.mistaken {
            cx.error(
                &input.item.ident,
                format!(
                    "document without a collection: add `#[document(collection = \"..\")]` to `{}`",
                    input.item.ident
                ),
            );
        }
        return;
    };
    collection_name(cx, collection);
}

/// The collections of cold parts.
fn cold_parts(cx: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    let mut names: Vec<String> = Vec::new();
    names.extend(input.attrs.collection.as_ref().map(LitStr::value));
    for split in fields.iter().filter_map(|field| field.attrs.split()) {
        let name = split.collection.value();
        if names.contains(&name) {
            cx.error(
                &split.collection,
                format!("the collection `{name}` holds another part of the document: give this one its own"),
            );
        } else {
            collection_name(cx, &split.collection);
        }
        names.push(name);
    }
}

fn collection_name(cx: &Ctxt, collection: &LitStr) {
    let name = collection.value();
    let problem = if name.is_empty() {
        "the name is empty"
    } else if name.contains('$') {
        "it cannot contain `$`"
    } else if name.contains('\0') {
        "it cannot contain a NUL"
    } else if name.starts_with("system.") {
        "names with `system.` belong to the server"
    } else if name.starts_with("_odm") {
        "names with `_odm` belong to the library"
    } else {
        return;
    };
    cx.error(
        collection,
        format!("`{name}` cannot be the name of a collection: {problem}"),
    );
}

fn container(cx: &Ctxt, input: &Input<'_>) {
    if let Some(deny) = &input.serde.deny_unknown_fields {
        cx.error(
            deny,
            "a document can hold fields that this version of the program does not know, and must \
             still be read: remove `deny_unknown_fields`",
        );
    }
    if let Some(transparent) = &input.serde.transparent {
        cx.error(
            transparent,
            "a document is stored as its fields: remove `transparent`",
        );
    }
}

fn id(cx: &Ctxt, input: &Input<'_>, all: &[Field<'_>]) {
    let Some(id) = fields::stored(all).find(|field| field.stored == "_id") else {
        return no_id(cx, input, all);
    };
    if let Some(index) = id.attrs.index() {
        cx.error(
            &index.at,
            "an `_id` always has a unique index: remove `#[index]`",
        );
    }
    if let Some((at, what)) = changing(&id.attrs) {
        cx.error(
            at,
            format!("an `_id` never changes, and cannot be {what}: give it a field of its own"),
        );
    }
}

/// The mark of a field whose value the library changes, and the name of such a field in messages.
fn changing(attrs: &attr::FieldAttributes) -> Option<(&Path, &'static str)> {
    let derived = attrs.derived();
    derived
        .map(|declared| (&declared.at, declared.kind.noun))
        .or_else(|| Some((&attrs.split()?.at, "a cold part")))
        .or_else(|| Some((attrs.version()?, "a version")))
        .or_else(|| Some((attrs.write_time()?, "the time of a write")))
}

/// The struct of a new document, and the attributes that need it.
fn new(cx: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    let mut ids = fields
        .iter()
        .filter_map(|field| field.id.as_ref().map(|id| (field, id)));
    if let Some((field, id, source)) = ids.find_map(|(field, id)| Some((field, id, id.source?))) {
        if field.stored != "_id" {
            cx.error(
                id.at,
                format!(
                    "`{}` is stored as `{}`, and `#[id({})]` is for the field that is stored as `_id`",
                    field.name(),
                    field.stored,
                    source.key()
                ),
            );
        } else if input.attrs.new.is_none() {
            let ident = &input.item.ident;
            cx.error(
                id.at,
                format!(
                    "an `_id` is made where a new document is given without it: add `new = \"New{ident}\"` to \
                     `#[document(..)]`, and insert a `New{ident}`"
                ),
            );
        }
    }
    if let Some(new) = &input.attrs.new
        && !input.item.generics.params.is_empty()
    {
        cx.error(
            &new.literal,
            "a generic document has no struct of a new one: remove `new`",
        );
    }
}

fn no_id(cx: &Ctxt, input: &Input<'_>, all: &[Field<'_>]) {
    if let Some(id) = all.iter().find_map(|field| field.id.as_ref()) {
        cx.error(
            id.at,
            "the `_id` of a document is the field that serde stores as `_id`: instead of `#[id]`, write \
             `#[serde(rename = \"_id\")]`",
        );
        return;
    }
    let named = |name: &str| {
        fields::stored(all)
            .find(|field| field.ident.is_some_and(|ident| types::name(ident) == name))
    };
    if let Some(field) = all.iter().find(|field| field.stored == "_id") {
        // Skipped: reported as such. Flattened: its own fields count.
        if field.serde.skip.is_some() {
            return;
        }
    }
    match (named("_id"), &input.serde.rename_all) {
        (Some(field), Some(rename)) if field.serde.rename.is_none() => cx.error(
            &rename.at,
            format!(
                "`rename_all = \"{}\"` stores the field `_id` as `{}`, and a document has an `_id`: \
                 add `#[serde(rename = \"_id\")]` to the field",
                rename.at.value(),
                field.stored
            ),
        ),
        (Some(field), _) => cx.error(
            super::name_tokens(field),
            format!("a document has an `_id`, and this stores it as `{}`", field.stored),
        ),
        (None, _) => match named("id") {
            Some(field) => cx.error(
                super::name_tokens(field),
                format!(
                    "`id` is stored as `{}`, and a document has an `_id`: add \
                     `#[serde(rename = \"_id\")]`",
                    field.stored
                ),
            ),
            None => cx.error(
                &input.item.ident,
                format!(
                    "no field of `{}` is stored as `_id`: add `#[serde(rename = \"_id\")]` to one",
                    input.item.ident
                ),
            ),
        },
    }
}

/// A document has at most one field with some mark.
fn once(
    cx: &Ctxt,
    fields: &[Field<'_>],
    what: &str,
    role: &str,
    mark: impl Fn(&attr::FieldAttributes) -> Option<&Path>,
) {
    let mut marked = fields
        .iter()
        .filter_map(|field| Some((field, mark(&field.attrs)?)));
    let first = marked.next();
    for (_, at) in marked {
        let first = first.map_or_else(String::new, |(field, _)| field.name());
        cx.error(
            at,
            format!("duplicate {what}: `{first}` is {role} of this document"),
        );
    }
}

/// A field that had another name has its new one now, in the same place.
fn renamed(cx: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    let parts = |path: &LitStr| {
        let path = path.value();
        let (parent, name) = path.rsplit_once('.').unwrap_or(("", &path));
        (parent.to_owned(), name.to_owned())
    };
    for Renamed { from, to } in &input.attrs.renamed {
        let ((old_parent, old), (parent, new)) = (parts(from), parts(to));
        if old_parent != parent || old == new || old.is_empty() || new.is_empty() {
            cx.error(
                from,
                "a field is renamed in its place: let both paths be the same but for their last name, as in \
                 `renamed(from = \"lines.title\", to = \"lines.name\")`",
            );
            continue;
        }
        let path = to.value();
        let first = path.split('.').next().unwrap_or_default();
        let names = fields::stored(fields).map(|field| format!("`{}`", field.stored));
        let names: Vec<String> = names.collect();
        let is_stored = |name: &str| names.contains(&format!("`{name}`"));
        let is_flattened = fields::stored(fields).any(|field| field.serde.flatten.is_some());
        if !is_stored(first) && !is_flattened {
            cx.error(
                to,
                format!(
                    "no field of `{}` is stored as `{first}`{}",
                    input.item.ident,
                    meant(first, &names.join(", "))
                ),
            );
        } else if parent.is_empty() && is_stored(&old) {
            cx.error(
                from,
                format!(
                    "`{}` has a field that is stored as `{old}`: the old name must be free, since its values \
                     would be taken for those of the new one",
                    input.item.ident
                ),
            );
        }
    }
}
