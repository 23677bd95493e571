//! The rules for references: what a delete does, and pairs.

use crate::{
    ast::{Derive, Field, Input},
    attr::{OnDelete, Reference},
    ctxt::Ctxt,
    types::argument,
};

pub(super) fn check(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>) {
    if let Some(reference) = &field.attrs.reference {
        on_delete(cx, input, field, reference);
        inverse(cx, input, reference);
    }
}

/// What stands around the reference, as far as the tokens tell.
fn on_delete(cx: &Ctxt, input: &Input<'_>, field: &Field<'_>, reference: &Reference) {
    let Some((literal, rule)) = &reference.on_delete else {
        return;
    };
    let embed = input.derive == Derive::Embed;
    let is = |name| argument(field.ty, name).is_some();
    let message = match rule {
        OnDelete::Nullify if is("Vec") => {
            "a list of references is not emptied when one of them is deleted: `pull` takes that one \
             out of the list"
        }
        OnDelete::Nullify if is("Ref") && embed => {
            "a reference that is no `Option` cannot become empty: make it an `Option<Ref<..>>`, or \
             use `pull`, if what holds it is an element of a list"
        }
        OnDelete::Nullify if is("Ref") => {
            "a reference that is no `Option` cannot become empty: make it an `Option<Ref<..>>`, or \
             use `cascade`, to delete what holds it too"
        }
        OnDelete::Pull if is("Option") && !embed => {
            "`pull` takes a reference out of a list, and this is none: `nullify` makes it empty"
        }
        OnDelete::Pull if is("Ref") && !embed => {
            "`pull` takes a reference out of a list, and this is none: use `cascade`, to delete what \
             holds it too, or make it an `Option<Ref<..>>` and use `nullify`"
        }
        _ => return,
    };
    cx.error(literal, message);
}

fn inverse(cx: &Ctxt, input: &Input<'_>, reference: &Reference) {
    let Some((literal, _)) = &reference.inverse else {
        return;
    };
    if input.derive != Derive::Document {
        cx.error(
            literal,
            "the sides of a pair are fields of documents, and this is one of an embedded value: move \
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
        format!("a pair always leads somewhere: remove `{how}` or `inverse`"),
    );
}
