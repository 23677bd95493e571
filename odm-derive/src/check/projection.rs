//! The rules for projections. The compiler checks that the document has the fields.

use super::{fields, unsuitable};
use crate::{
    ast::{Data, Input, Style},
    ctxt::Ctxt,
};

pub(super) fn check(cx: &Ctxt, input: &Input<'_>) {
    let fields = match &input.data {
        Data::Struct(Style::Named, fields) => fields,
        _ => {
            let instead = "it is a struct with some of the named fields of a document";
            return unsuitable(cx, input, "this", instead);
        }
    };
    if input.attrs.of.is_none() && !input.attrs.mistaken {
        cx.error(
            &input.item.ident,
            format!(
                "projection without a document: add `#[projection(of = \"..\")]` to `{}`",
                input.item.ident
            ),
        );
    }
    if fields.iter().all(|field| field.serde.skip.is_some()) {
        cx.error(&input.item.ident, "a projection shows at least one field");
    }
    if let Some(deny) = &input.serde.deny_unknown_fields {
        cx.error(
            deny,
            "a projection is read from what may be more than its fields: remove \
             `deny_unknown_fields`",
        );
    }
    if let Some(transparent) = &input.serde.transparent {
        cx.error(
            transparent,
            "a projection is read from fields: remove `transparent`",
        );
    }
    fields::check(cx, input, fields);
}
