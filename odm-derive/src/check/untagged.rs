//! The rule for variants without a tag: serde takes the first variant that fits, which must be the written one.

use quote::ToTokens;
use syn::Type;

use crate::{
    ast::{Field, Form, Input, Style, Variant},
    ctxt::Ctxt,
    types,
};

/// As far as the tokens tell.
pub(super) fn check(cx: &Ctxt, input: &Input<'_>, form: &Form, variants: &[&Variant<'_>]) {
    let closed = input.serde.deny_unknown_fields.is_some();
    let untagged: Vec<_> = variants
        .iter()
        .filter(|variant| form.of_variant(variant) == Form::Untagged)
        .collect();
    for (position, variant) in untagged.iter().enumerate() {
        let earlier = untagged[..position].iter();
        let Some(first) = earlier.copied().find(|first| takes(first, variant, closed)) else {
            continue;
        };
        let order = if takes(variant, first, closed) {
            String::new()
        } else {
            format!("move `{}` before it, or ", variant.ident)
        };
        cx.error(
            variant.ident,
            format!(
                "`{}` can be read as `{}`, which serde tries first: {order}let a tag tell them apart, as \
                 by `#[serde(tag = \"..\")]`",
                variant.ident, first.ident
            ),
        );
    }
}

/// Whether a written value of `other` is read as `first`.
fn takes(first: &Variant<'_>, other: &Variant<'_>, closed: bool) -> bool {
    match (first.style, other.style) {
        (Style::Unit, Style::Unit) => true,
        (Style::Newtype, Style::Unit) => {
            let mut fields = stored(first);
            fields.any(|field| types::argument(field.ty, "Option").is_some())
        }
        (Style::Newtype, Style::Newtype) | (Style::Tuple, Style::Tuple) => {
            let (first, other): (Vec<_>, Vec<_>) =
                (stored(first).collect(), stored(other).collect());
            first.len() == other.len()
                && first
                    .iter()
                    .zip(&other)
                    .all(|(first, other)| reads(first, other))
        }
        (Style::Named, Style::Named) => {
            let found =
                |field: &Field<'_>| stored(other).find(|other| other.stored == field.stored);
            let fits = |field: &Field<'_>| match found(field) {
                Some(other) => reads(field, other),
                None => field.serde.default || types::argument(field.ty, "Option").is_some(),
            };
            let is_known =
                |field: &Field<'_>| stored(first).any(|first| first.stored == field.stored);
            let has_flat =
                |variant: &Variant<'_>| stored(variant).any(|field| field.serde.flatten.is_some());
            !has_flat(first)
                && !has_flat(other)
                && stored(first).all(fits)
                && (!closed || stored(other).all(is_known))
        }
        _ => false,
    }
}

fn stored<'a>(variant: &'a Variant<'a>) -> impl Iterator<Item = &'a Field<'a>> {
    variant
        .fields
        .iter()
        .filter(|field| field.serde.skip.is_none())
}

/// Whether the written value of one field can be read as the other.
fn reads(field: &Field<'_>, written: &Field<'_>) -> bool {
    if field.serde.with.is_some() || written.serde.with.is_some() {
        return false;
    }
    let text = |ty: &Type| ty.to_token_stream().to_string();
    let is_float = |ty| types::is_written(ty, "f64") || types::is_written(ty, "f32");
    text(field.ty) == text(written.ty)
        || (is_integer(written.ty) && (is_integer(field.ty) || is_float(field.ty)))
        || (types::is_written(field.ty, "String") && types::is_written(written.ty, "char"))
}

fn is_integer(ty: &Type) -> bool {
    const INTEGERS: [&str; 9] = [
        "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "usize",
    ];
    INTEGERS.iter().any(|name| types::is_written(ty, name))
}
