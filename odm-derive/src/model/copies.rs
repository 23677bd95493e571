//! The reference that a copy follows.

use proc_macro2::{Ident, Span};
use syn::Type;

use super::Head;
use crate::{
    ast::Field as AstField,
    attr::{Denormalize, From, Via},
    types,
};

/// A copy of a field of another document.
#[derive(Clone)]
pub(crate) struct Copy {
    pub(crate) from: From,
    pub(crate) along: Along,
    pub(crate) frozen: bool,
    /// The reference beside it is `unchecked`.
    pub(crate) unchecked: bool,
}

/// The reference to the source.
#[derive(Clone)]
pub(crate) enum Along {
    /// A field of the same struct, and where it is named.
    Beside(Ident, Span),
    /// A reference of the source to the holder.
    Back(Box<From>),
}

impl Copy {
    /// A copy that has been checked, and `None` of one that did not pass.
    pub(super) fn new(
        head: &Head,
        denormalize: &Denormalize,
        fields: &[AstField<'_>],
    ) -> Option<Self> {
        let mut from = denormalize.from.clone()?;
        let along = match &denormalize.via {
            Some(Via::Beside(literal, field)) => Along::Beside(field.clone(), literal.span()),
            Some(Via::Back(back)) => {
                let mut back = back.clone();
                back.ty = head.without_self(&back.ty);
                Along::Back(back)
            }
            None => match references_to(&head.ident, fields, &from.ty).as_slice() {
                [reference] => {
                    let span = from.literal.span();
                    let name = types::name(reference.ident?);
                    Along::Beside(types::ident(&name, span)?, span)
                }
                _ => return None,
            },
        };
        from.ty = head.without_self(&from.ty);
        let unchecked = fields.iter().any(|field| match (&along, field.ident) {
            (Along::Beside(name, _), Some(ident)) if *name == *ident => {
                let reference = field.attrs.reference();
                reference.is_some_and(|reference| reference.unchecked.is_some())
            }
            _ => false,
        });
        Some(Copy {
            unchecked,
            from,
            along,
            frozen: denormalize.freeze,
        })
    }
}

/// The references beside a copy that could be to a document.
///
/// The only one is taken at its word, which the compiler checks. Of several, those that are written
/// like the document are, if the types of all of them are written out; an alias could be any.
pub(crate) fn references_to<'a>(
    this: &Ident,
    fields: &'a [AstField<'a>],
    document: &Type,
) -> Vec<&'a AstField<'a>> {
    let references: Vec<_> = fields
        .iter()
        .filter(|field| field.attrs.reference().is_some() && field.serde.skip.is_none())
        .collect();
    let target = |field: &AstField<'a>| types::argument(types::innermost(field.ty), "Ref");
    if references.len() < 2 || references.iter().any(|field| target(field).is_none()) {
        return references;
    }
    let to = |field: &&&AstField<'a>| {
        target(field).is_some_and(|target| types::is_same_name(target, document, this))
    };
    let named: Vec<_> = references.iter().filter(to).copied().collect();
    if named.is_empty() { references } else { named }
}
