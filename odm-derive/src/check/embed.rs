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
    fields::nameless(cx, field);
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
        scalar(cx, input, field);
    }
}

/// A struct that serde stores as a scalar.
fn scalar(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>) {
    let name = &input.item.ident;
    if let Some(opaque) = field.attrs.opaque() {
        cx.error(
            opaque,
            format!(
                "`{name}` is stored as the value in it, which the library is not to look into: remove `Embed`, \
                 and mark the fields of type `{name}` with `#[opaque]`"
            ),
        );
    } else if let Some(with) = &field.serde.with
        && !field.serde.native
    {
        cx.error(
            with,
            format!(
                "`{name}` is stored as these functions write it, which the library cannot see: remove `Embed`, \
                 and mark the fields of type `{name}` with `#[opaque]`, or implement \
                 `odm::native::NativeForm` for the type in it"
            ),
        );
    }
    if let Some(validate) = field.attrs.validate() {
        cx.error(
            &validate.at,
            format!(
                "`{name}` is stored as the value in it, and is no object with fields: put the rules on the \
                 fields of type `{name}`"
            ),
        );
    }
}
