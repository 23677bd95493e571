//! The rules for indexes.

use proc_macro2::TokenStream;
use quote::ToTokens;

use super::list;
use crate::{
    ast::{Field, Input},
    attr::Index,
    ctxt::Ctxt,
    types,
};

/// Checks the indexes of a document as far as its own fields tell; the compiler follows the rest of
/// each path.
pub(super) fn check(cx: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    for index in &input.attrs.indexes {
        for key in &index.keys {
            let Some((first, rest)) = key.path.split_first() else {
                continue;
            };
            let name = types::name(first);
            let field = fields
                .iter()
                .find(|field| field.ident.is_some_and(|ident| types::name(ident) == name));
            if let Some(message) = problem(input, fields, field, &name, !rest.is_empty()) {
                cx.error(&index.literal, message);
            }
        }
        mixed(cx, index, fields);
        if let [key] = index.keys.as_slice()
            && let [name] = key.path.as_slice()
            && fields.iter().any(|field| {
                field.stored == "_id" && field.ident.is_some_and(|ident| *ident == *name)
            })
        {
            cx.error(
                &index.literal,
                "an `_id` always has a unique index: remove this one",
            );
        }
    }
    twice(cx, input, fields);
}

fn problem(
    input: &Input<'_>,
    fields: &[Field<'_>],
    field: Option<&Field<'_>>,
    name: &str,
    goes_on: bool,
) -> Option<String> {
    let Some(field) = field else {
        let stored = fields
            .iter()
            .find(|field| field.ident.is_some() && field.stored == name);
        return Some(match stored {
            Some(field) => format!(
                "an index names the fields as in Rust: write `{}` for what is stored as `{name}`",
                field.name()
            ),
            None => {
                let model = &input.item.ident;
                format!("`{model}` has no field `{name}`, only {}", list(fields))
            }
        });
    };
    if field.serde.skip.is_some() {
        return Some(format!("`{name}` is not stored: it has `#[serde(skip)]`"));
    }
    if goes_on {
        let attrs = &field.attrs;
        if attrs.embed().is_some()
            || attrs.split().is_some()
            || attrs
                .derived()
                .is_some_and(|declared| declared.kind.is_indexed_within())
        {
            return None;
        }
        return Some(if field.attrs.reference().is_some() {
            format!("`{name}` is a reference: declare the index on the referenced document")
        } else {
            format!("`{name}` is not marked with `#[embed]`, so an index cannot go into it")
        });
    }
    if field.attrs.split().is_some() {
        return Some(format!(
            "`{name}` is the cold part: name a field of it, as in `{name}.field`"
        ));
    }
    if field.serde.with.is_some() {
        return Some(format!(
            "the library must know how `{name}` is stored to index it: instead of this `with`, write \
             `with = \"odm::native\"`, if that knows its type, or give it a type of its own whose \
             `Serialize` and `Deserialize` do the same"
        ));
    }
    if field.serde.flatten.is_some() {
        return Some(format!(
            "`{name}` is flattened and has no path of its own: go on to one of its fields"
        ));
    }
    None
}

/// An index is of one collection.
fn mixed(cx: &Ctxt, index: &Index, fields: &[Field<'_>]) {
    let part = |name: &syn::Ident| {
        let of = |field: &&Field<'_>| field.ident.is_some_and(|ident| ident == name);
        let split = fields.iter().find(of)?.attrs.split()?;
        Some(split.collection.value())
    };
    let mut parts = index
        .keys
        .iter()
        .filter_map(|key| Some(part(key.path.first()?)));
    let first = parts.next();
    if parts.any(|part| Some(part) != first) {
        cx.error(
            &index.literal,
            "the fields are in different collections, that of the document and that of its cold part: \
             give each its own index",
        );
    }
}

/// The fields of an index: whether each is descending, and its path.
type Keys = Vec<(bool, Vec<String>)>;

/// The content of an index: whether it ignores case, the function of its filter, and its fields.
type IndexContent = (bool, Option<String>, Keys);

/// No index is declared twice, and no name is given twice.
fn twice(cx: &Ctxt, input: &Input<'_>, fields: &[Field<'_>]) {
    let mut contents: Vec<IndexContent> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut add = |content: IndexContent, name: Option<&syn::LitStr>, at: TokenStream| {
        if contents.contains(&content) {
            cx.error(at, "duplicate index: remove one of the two");
        }
        contents.push(content);
        if let Some(name) = name {
            if names.contains(&name.value()) {
                cx.error(
                    name,
                    format!("two indexes have the name `{}`", name.value()),
                );
            }
            names.push(name.value());
        }
    };
    let function = |filter: &Option<syn::Path>| {
        filter
            .as_ref()
            .map(|path| path.to_token_stream().to_string())
    };
    for field in fields {
        if let (Some(index), Some(ident)) = (field.attrs.index(), field.ident) {
            let key = vec![(false, vec![types::name(ident)])];
            add(
                (index.case_insensitive, function(&index.filter), key),
                index.name.as_ref(),
                index.at.to_token_stream(),
            );
        }
    }
    for Index {
        literal,
        keys,
        case_insensitive,
        filter,
        name,
        ..
    } in &input.attrs.indexes
    {
        let key = keys
            .iter()
            .map(|key| (key.descending, key.path.iter().map(types::name).collect()))
            .collect();
        add(
            (*case_insensitive, function(filter), key),
            name.as_ref(),
            literal.to_token_stream(),
        );
    }
}
