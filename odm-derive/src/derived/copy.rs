//! Copies of fields of other documents: `#[denormalize(from = "Part.name", via = "part", freeze, refresh = "later")]`.

use proc_macro2::{Ident, Span, TokenStream};
use syn::Type;

use super::{Declaration, DerivedKind, Indexed, reference_to};
use crate::{
    ast::{Field, Input},
    ctxt::Ctxt,
    model::{CopiedField, DerivedField, Head, Member, Structure},
    types,
};

mod check;
mod expand;
mod grammar;

use grammar::{Denormalize, Via};
pub(super) use grammar::{From, from};

pub(super) const KIND: DerivedKind = DerivedKind {
    attribute: "denormalize",
    noun: "a copy",
    is_embedded: true,
    is_optional: true,
    indexed: Indexed::Within,
    read: |cx, attr| Box::new(Denormalize::new(cx, attr)),
};

/// A copy of a field of another document.
struct Copy {
    from: From,
    along: Along,
    frozen: bool,
    deferred: bool,
    /// The reference beside it is `unchecked`.
    unchecked: bool,
}

/// The reference to the source.
enum Along {
    /// A field of the same struct, and where it is named.
    Beside(Ident, Span),
    /// A reference of the source to the holder.
    Back(Box<From>),
}

impl Copy {
    /// The copy, if it has passed the checks.
    fn new(head: &Head, denormalize: &Denormalize, fields: &[Field<'_>]) -> Option<Self> {
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
            deferred: denormalize.deferred,
        })
    }
}

impl Declaration for Denormalize {
    fn check(&self, cx: &Ctxt, input: &Input<'_>, _: &Field<'_>, fields: &[Field<'_>]) {
        check::check(cx, input, self, fields);
    }

    fn written(&self) -> Option<String> {
        let via = self.via.as_ref().map(|via| match via {
            Via::Beside(literal, _) => literal.value(),
            Via::Back(back) => back.literal.value(),
        });
        let from = self.from.as_ref()?.literal.value();
        let (freeze, deferred) = (self.freeze, self.deferred);
        let via = via.unwrap_or_default();
        Some(format!("{from} {via} {freeze} {deferred}"))
    }

    fn field(&self, head: &Head, fields: &[Field<'_>]) -> Option<Box<dyn DerivedField>> {
        let copy = Copy::new(head, self, fields)?;
        Some(Box::new(copy))
    }
}

impl DerivedField for Copy {
    fn shape(&self, head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
        expand::shape(head, structure, member, self)
    }

    fn reads(&self, head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
        expand::reads(head, structure, member)
    }

    fn refers_to(&self, head: &Head, _: &Type) -> Option<TokenStream> {
        match &self.along {
            // The reference beside it says so.
            Along::Beside(..) => None,
            Along::Back(via) => Some(reference_to(head, &via.ty)),
        }
    }

    fn copy(&self) -> Option<&dyn CopiedField> {
        Some(self)
    }
}

/// The references beside a copy that could be to a document.
///
/// A single reference is one, as the compiler checks. Among several, the references that are written like
/// the document are, if the types of all are written out: an alias could be any type.
fn references_to<'a>(this: &Ident, fields: &'a [Field<'a>], document: &Type) -> Vec<&'a Field<'a>> {
    let references: Vec<_> = fields
        .iter()
        .filter(|field| field.attrs.reference().is_some() && field.serde.skip.is_none())
        .collect();
    let target = |field: &Field<'a>| types::argument(types::innermost(field.ty), "Ref");
    if references.len() < 2 || references.iter().any(|field| target(field).is_none()) {
        return references;
    }
    let to = |field: &&&Field<'a>| {
        target(field).is_some_and(|target| types::is_same_name(target, document, this))
    };
    let named: Vec<_> = references.iter().filter(to).copied().collect();
    if named.is_empty() { references } else { named }
}
