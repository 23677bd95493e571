//! The rules for databases.

use quote::ToTokens;

use super::unsuitable;
use crate::{
    ast::{Data, Field, Input, Style},
    ctxt::Ctxt,
    types,
};

pub(super) fn check(cx: &Ctxt, input: &Input<'_>) {
    let fields = match &input.data {
        Data::Struct(Style::Named, fields) => fields,
        _ => {
            let instead =
                "it is a struct with a named field of type `Repository<..>` for each model";
            return unsuitable(cx, input, "this", instead);
        }
    };
    if fields.is_empty() {
        cx.error(
            &input.item.ident,
            format!(
                "`{}` has no repositories: add a field of type `Repository<..>` for each model",
                input.item.ident
            ),
        );
    }
    attributes(cx, input);
    models(cx, fields);
}

fn attributes(cx: &Ctxt, input: &Input<'_>) {
    let attrs = &input.attrs;
    let missing: Vec<&str> = [
        attrs.name.is_none().then_some("name = \"..\""),
        attrs.version.is_none().then_some("version = 1"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !missing.is_empty() && !attrs.mistaken {
        cx.error(
            &input.item.ident,
            format!(
                "the database needs a name, under which its relations are stored, and a version: \
                 add `#[database({})]`",
                missing.join(", ")
            ),
        );
    }
    if let Some(name) = &attrs.name
        && (name.value().is_empty() || name.value().contains('\0'))
    {
        cx.error(name, "the name of a database is not empty and holds no NUL");
    }
    if let Some(version) = &attrs.version
        && !version
            .base10_parse::<u32>()
            .is_ok_and(|version| version > 0)
    {
        cx.error(
            version,
            "the version of a database is a whole number from 1, of 32 bits",
        );
    }
}

/// The models stand in the types of the fields. One is enough for each.
fn models(cx: &Ctxt, fields: &[Field<'_>]) {
    let mut seen: Vec<(String, &Field<'_>)> = Vec::new();
    for field in fields {
        // Behind an alias, the compiler could not tell the models of two fields apart.
        let Some(model) = types::argument(field.ty, "Repository") else {
            cx.error(
                field.ty,
                "a field of a database is a repository, and names its model: write \
                 `Repository<Model>`, not an alias",
            );
            continue;
        };
        let model = model.to_token_stream().to_string();
        match seen.iter().find(|(other, _)| *other == model) {
            Some((_, other)) => cx.error(
                field.ty,
                format!(
                    "`{}` is a repository of `{model}` already: one is enough",
                    other.name()
                ),
            ),
            None => seen.push((model, field)),
        }
    }
}
