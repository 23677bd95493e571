//! The rules for inverse references.

use crate::{
    ast::{Field, Input},
    attr::{OnDelete, Reference},
    ctxt::Ctxt,
    derive::Derive,
};

pub(super) fn check(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>) {
    if let Some(reference) = field.attrs.reference() {
        inverse(cx, input, reference);
    }
}

fn inverse(cx: &Ctxt, input: &Input<'_>, reference: &Reference) {
    let Some((literal, _)) = &reference.inverse else {
        return;
    };
    if input.derive != Derive::Document {
        cx.error(
            literal,
            "inverse references are fields of documents, and this is one of an embedded value: move \
             the reference to the document, or remove `inverse`",
        );
    }
    let how = match reference.rule() {
        _ if reference.unchecked.is_some() => "unchecked",
        Some(OnDelete::Keep) => "on_delete = \"keep\"",
        _ => return,
    };
    cx.error(
        literal,
        format!("an inverse reference cannot dangle: remove `{how}` or `inverse`"),
    );
}
