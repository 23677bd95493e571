//! Values computed from fields of the same document, or of the same embedded value: `#[computed(quantity * price)]`.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::{Attribute, Expr, Path, Type, spanned::Spanned};

use super::{Declaration, DerivedKind, Indexed};
use crate::{
    ast::{Data, Field, Input},
    check::list,
    ctxt::Ctxt,
    derive::Derive,
    model::{DerivedField, Head, Member, Structure},
    types,
};

mod expand;
mod grammar;
mod methods;

use expand::Emission;
use grammar::{Node, Parsed, parse};

pub(super) const KIND: DerivedKind = DerivedKind {
    attribute: "computed",
    noun: "a computed field",
    is_embedded: true,
    is_optional: true,
    indexed: Indexed::Whole,
    read: |cx, attr| Box::new(Computed::new(cx, attr)),
};

/// The attribute.
struct Computed {
    /// The expression as it is written.
    written: String,
    /// `None` after an error only.
    parsed: Option<Parsed>,
}

/// The default of serde for a field.
#[derive(Clone)]
enum Default {
    /// `default`
    OfType,
    /// `default = "path"`
    Function(Path),
}

impl Computed {
    fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let parsed = match attr.parse_args::<Expr>() {
            Ok(expression) => parse(cx, &expression),
            Err(_) => {
                cx.error(
                    &attr.meta,
                    "computed field without an expression: write one of fields of this struct, as in `#[computed(quantity * price)]`",
                );
                None
            }
        };
        Computed {
            written: crate::attr::text(attr),
            parsed,
        }
    }
}

impl Declaration for Computed {
    fn check(&self, cx: &Ctxt, input: &Input<'_>, this: &Field<'_>, fields: &[Field<'_>]) {
        let Some(parsed) = &self.parsed else { return };
        if !matches!(input.data, Data::Struct(..)) {
            let message = "a computed field belongs to a struct: move the fields of the variant to a struct of their own";
            cx.error(this.ty, message);
            return;
        }
        for ident in parsed.fields.values().filter_map(|path| path.first()) {
            let name = types::name(ident);
            let named = |field: &&Field<'_>| field.ident.is_some_and(|of| types::name(of) == name);
            let message = match fields.iter().find(named) {
                None => format!(
                    "there is no field `{name}` beside this one, only {}",
                    list(fields)
                ),
                Some(field) if field.ident == this.ident => {
                    format!("`{name}` is computed from itself: name other fields")
                }
                Some(field) if field.serde.skip.is_some() => {
                    format!("`{name}` is not stored, so that a stored value cannot follow from it")
                }
                Some(field)
                    if field.attrs.version().is_some() || field.attrs.write_time().is_some() =>
                {
                    format!(
                        "`{name}` is set when the document is written, after its computed fields: name a field of its base data"
                    )
                }
                Some(field) if field.attrs.split().is_some() => format!(
                    "`{name}` is the cold part of the document, which a derived field cannot read: move what it reads to the document"
                ),
                Some(_) => continue,
            };
            cx.error(ident, message);
        }
    }

    fn written(&self) -> Option<String> {
        Some(self.written.clone())
    }

    fn field(&self, _: &Head, fields: &[Field<'_>]) -> Option<Box<dyn DerivedField>> {
        let defaults = fields.iter().filter_map(|field| {
            let default = match &field.serde.default_function {
                Some(function) => Default::Function(function.parse().ok()?),
                None if field.serde.default && !field.serde.native => Default::OfType,
                None => return None,
            };
            Some((types::name(field.ident?), default))
        });
        Some(Box::new(ComputedField {
            parsed: self.parsed.clone()?,
            defaults: defaults.collect(),
        }))
    }
}

/// The field, if it has passed the checks.
struct ComputedField {
    parsed: Parsed,
    /// By the names of their fields.
    defaults: Vec<(String, Default)>,
}

impl DerivedField for ComputedField {
    /// ```ignore
    /// computed::<i64, _, _>(
    ///     "total",
    ///     |document: &Line| -> i64 { number(copied(&document.quantity)) * number(copied(&document.price)) },
    ///     || Expression::Call(Function::Multiply, vec![field(fields_of::<Line>().quantity), ..]),
    /// )
    /// ```
    fn shape(&self, head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
        let emission = Emission::new(head, structure, &self.defaults);
        let (this, stored) = (&structure.this, member.stored(structure));
        let ty = &member.ty;
        let value = types::native(ty).unwrap_or(ty);
        let document = &emission.document;
        let checked = emission.checked(&self.parsed.node);
        let formula = emission.formula(&self.parsed.node);
        let private = head.private_at(ty.span());
        Some(quote_spanned! {ty.span()=>
            #private::computed::<#ty, _, _>(
                #stored,
                |#document: &#this| -> #value { #checked },
                || #formula,
            )
        })
    }

    /// The documents of an embedded value are not known here: the catalog finds its cycles.
    fn reads(&self, head: &Head, structure: &Structure, member: &Member) -> Option<TokenStream> {
        if head.derive != Derive::Document {
            return None;
        }
        let emission = Emission::new(head, structure, &self.defaults);
        let (private, this) = (&head.private, &head.this);
        let fields = self.parsed.fields.values();
        let fields = fields.map(|path| emission.typed(&Node::Field(path.clone())));
        Some(quote_spanned! {member.ty.span()=>
            #private::DerivedReads {
                paths: &[#(#private::sort_path(#fields)),*],
                ..#private::child_reads::<#this>()
            }
        })
    }

    fn refers_to(&self, _: &Head, _: &Type) -> Option<TokenStream> {
        None
    }
}
