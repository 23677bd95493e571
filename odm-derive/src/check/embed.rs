//! The rules for embedded values.

use super::{fields, unsuitable, variants};
use crate::{
    ast::{Data, Field, Input, Style},
    ctxt::Ctxt,
};

pub(super) fn check(cx: &Ctxt, input: &Input<'_>) {
    match &input.data {
        Data::Enum(variants) => variants::check(cx, input, variants),
        Data::Struct(style, fields) => {
            if let Some(field) = input.wrapped() {
                fields::check(cx, input, fields);
                return wrapper(cx, input, field);
            }
            match style {
                Style::Named => fields::check(cx, input, fields),
                Style::Unit => unsuitable(
                    cx,
                    input,
                    "a struct without fields",
                    "it is stored as null, and a field that holds one needs no mark",
                ),
                Style::Newtype | Style::Tuple => unsuitable(
                    cx,
                    input,
                    "a tuple",
                    "it is stored as an array, in which nothing has a name; name its fields",
                ),
            }
        }
        Data::Union => unsuitable(cx, input, "a union", "use an enum"),
    }
}

/// A struct that serde stores as the one value in it.
fn wrapper(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>) {
    let name = &input.item.ident;
    if let Some(reference) = field.attrs.reference() {
        cx.error(
            &reference.at,
            format!(
                "`{name}` is stored as the reference in it, which cannot be followed through it: use \
                 the `Ref` itself, or give `{name}` named fields"
            ),
        );
    } else if field.attrs.embed().is_none() {
        cx.error(
            name,
            format!(
                "`{name}` is stored as the value in it: if that is an embedded value, mark it with \
                 `#[embed]`; if not, `{name}` has no fields, and needs neither `Embed` nor, where it \
                 is used, `#[embed]`"
            ),
        );
    }
}
