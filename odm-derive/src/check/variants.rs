//! The rules for enums.

use quote::ToTokens;

use super::{fields, untagged};
use crate::{
    ast::{Field, Form, Input, Style, Variant},
    ctxt::Ctxt,
    types,
};

pub(super) fn check(cx: &Ctxt, input: &Input<'_>, all: &[Variant<'_>]) {
    let form = Form::of(&input.serde);
    let variants: Vec<_> = all.iter().filter(|variant| !variant.serde.skip).collect();
    for variant in &variants {
        fields::check(cx, input, &variant.fields);
        let form = form.of_variant(variant);
        match variant.style {
            Style::Tuple => tuple(cx, variant),
            Style::Newtype => newtype(cx, variant, &form),
            Style::Named | Style::Unit => {}
        }
        if form == Form::External
            && let Some(problem) = fields::problem(&variant.stored)
        {
            cx.error(
                variant.ident,
                format!(
                    "`{}` cannot be the name of a stored field: {problem}",
                    variant.stored
                ),
            );
        }
    }
    for name in [&input.serde.tag, &input.serde.content]
        .into_iter()
        .flatten()
    {
        fields::key(cx, name);
    }
    stored_names(cx, &form, &variants);
    untagged::check(cx, input, &form, &variants);
    field_names(cx, &form, &variants);
    shared_places(cx, &form, &variants);
}

/// Whether serde tells the variants by their names.
fn stored_names(cx: &Ctxt, form: &Form, variants: &[&Variant<'_>]) {
    let mut seen: Vec<&Variant<'_>> = Vec::new();
    for variant in variants {
        if form.of_variant(variant) == Form::Untagged {
            continue;
        }
        match seen.iter().find(|other| other.stored == variant.stored) {
            Some(other) => cx.error(
                variant.ident,
                format!(
                    "`{}` and `{}` are both stored as `{}`",
                    other.ident, variant.ident, variant.stored
                ),
            ),
            None => seen.push(variant),
        }
    }
}

fn tuple(cx: &Ctxt, variant: &Variant<'_>) {
    for field in &variant.fields {
        fields::nameless(cx, field);
        let at = field.attrs.reference().map(|reference| &reference.at);
        if let Some(at) = at.or(field.attrs.embed().map(|embed| &embed.at)) {
            cx.error(
                at,
                format!(
                    "`{}` is stored as an array, in which nothing has a name: name its fields",
                    variant.ident
                ),
            );
        }
    }
}

fn newtype(cx: &Ctxt, variant: &Variant<'_>, form: &Form) {
    let Some(field) = variant.fields.first() else {
        return;
    };
    fields::nameless(cx, field);
    if let Some(reference) = field.attrs.reference()
        && matches!(form, Form::Internal { .. } | Form::Untagged)
    {
        cx.error(
            &reference.at,
            format!(
                "here, nothing tells this reference from another value: name it, as in \
                 `{} {{ id: Ref<..> }}`",
                variant.ident
            ),
        );
    }
}

/// The names of the fields of the variants.
fn field_names(cx: &Ctxt, form: &Form, variants: &[&Variant<'_>]) {
    let mut seen: Vec<(String, String)> = Vec::new();
    if let Form::Internal { tag } | Form::Adjacent { tag, .. } = form
        && types::field_ident(tag, proc_macro2::Span::call_site()).is_some()
    {
        seen.push((tag.clone(), format!("the tag `{tag}`")));
    }
    for variant in variants {
        if matches!(variant.style, Style::Unit | Style::Tuple) {
            continue;
        }
        let name = variant.field_name();
        if let Some((_, other)) = seen.iter().find(|(other, _)| *other == name) {
            cx.error(
                variant.ident,
                format!(
                    "{other} and the variant `{}` would both be reached by `fields().{name}`: rename \
                     one of them",
                    variant.ident
                ),
            );
        }
        seen.push((name, format!("the variant `{}`", variant.ident)));
    }
}

/// Where variants share places, a reference or a copy in one of them must be one in the others: the
/// library finds them by their paths, and does not read tags.
fn shared_places(cx: &Ctxt, form: &Form, variants: &[&Variant<'_>]) {
    let mut seen: Vec<(String, Option<String>, &Variant<'_>)> = Vec::new();
    for variant in variants {
        if form.of_variant(variant) == Form::External {
            continue;
        }
        let mut new = Vec::new();
        for field in &variant.fields {
            if field.serde.skip.is_some() || field.serde.flatten.is_some() {
                continue;
            }
            let place = match variant.style {
                Style::Named => field.stored.clone(),
                // All newtypes of an adjacent tag are at the content.
                Style::Newtype if matches!(form, Form::Adjacent { .. }) => String::new(),
                _ => continue,
            };
            let target = target(field);
            let conflict = seen
                .iter()
                .find(|(other, other_target, _)| *other == place && *other_target != target);
            if let Some((_, other_target, other)) = conflict
                && (target.is_some() || other_target.is_some())
            {
                report(cx, field, variant, other, &place);
            }
            new.push((place, target, *variant));
        }
        seen.extend(new);
    }
}

/// The target of a reference or the definition of a derived field, as it is written.
fn target(field: &Field<'_>) -> Option<String> {
    if field.attrs.reference().is_some() {
        return Some(field.ty.to_token_stream().to_string());
    }
    field.attrs.derived()?.declaration.written()
}

fn report(cx: &Ctxt, field: &Field<'_>, variant: &Variant<'_>, other: &Variant<'_>, place: &str) {
    let place = if place.is_empty() {
        "the content".to_owned()
    } else {
        format!("`{place}`")
    };
    let at = match field.ident {
        Some(ident) => ident.to_token_stream(),
        None => field.ty.to_token_stream(),
    };
    cx.error(
        at,
        format!(
            "`{}` and `{}` store different values in {place}, one of them a reference or a copy, and \
             only the tag tells which: use other names, or serde's form with the variant's name \
             outside",
            other.ident, variant.ident
        ),
    );
}
