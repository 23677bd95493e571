//! The input of a derive: the item with its attributes read and its stored names found.

use syn::{Attribute, Data as SynData, DeriveInput, Fields as SynFields, Ident, Path, Type};

use crate::{
    attr::{
        self, CaseRule, serde,
        value::{Once, flag, keys, unknown},
    },
    ctxt::Ctxt,
    derive::Derive,
    types,
};

mod form;

pub(crate) use form::Form;

/// A struct or enum with a derive on it.
pub(crate) struct Input<'a> {
    pub(crate) derive: Derive,
    pub(crate) item: &'a DeriveInput,
    pub(crate) attrs: attr::ContainerAttributes,
    pub(crate) serde: serde::SerdeContainer,
    pub(crate) data: Data<'a>,
}

pub(crate) enum Data<'a> {
    Struct(Style, Vec<Field<'a>>),
    Enum(Vec<Variant<'a>>),
    Union,
}

/// How the fields of a struct or variant are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `{ a: A }`
    Named,
    /// `(A)`
    Newtype,
    /// `(A, B)`, `()`
    Tuple,
    /// nothing
    Unit,
}

pub(crate) struct Variant<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) docs: Vec<&'a Attribute>,
    pub(crate) serde: serde::SerdeVariant,
    /// The name under which serde stores it.
    pub(crate) stored: String,
    pub(crate) style: Style,
    pub(crate) fields: Vec<Field<'a>>,
}

pub(crate) struct Field<'a> {
    /// `None` in tuples.
    pub(crate) ident: Option<&'a Ident>,
    pub(crate) ty: &'a Type,
    pub(crate) docs: Vec<&'a Attribute>,
    pub(crate) attrs: attr::FieldAttributes,
    pub(crate) serde: serde::SerdeField,
    pub(crate) id: Option<Id<'a>>,
    /// The name under which serde stores it; of no meaning in tuples, and where it is flattened.
    pub(crate) stored: String,
}

/// `#[id(..)]`; without a source it means nothing.
pub(crate) struct Id<'a> {
    pub(crate) at: &'a Path,
    pub(crate) source: Option<IdSource>,
}

/// The source of the `_id` of a new document, if its caller does not give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdSource {
    /// `auto`: it is made.
    Auto,
    /// `sequence`: it is the next number.
    Sequence,
}

impl IdSource {
    /// The key, as users write it.
    pub(crate) fn key(self) -> &'static str {
        match self {
            IdSource::Auto => "auto",
            IdSource::Sequence => "sequence",
        }
    }
}

impl<'a> Input<'a> {
    pub(crate) fn new(cx: &Ctxt, derive: Derive, item: &'a DeriveInput) -> Self {
        let attrs = attr::ContainerAttributes::new(cx, derive, &item.attrs);
        // A database is not stored.
        let serde = match derive {
            Derive::Database => {
                serde::refuse(cx, &item.attrs);
                serde::SerdeContainer::default()
            }
            _ => serde::SerdeContainer::new(cx, &item.attrs),
        };
        let rule = |rename: &Option<serde::Rename>| rename.as_ref().map(|rename| rename.rule);
        let krate = attrs
            .krate
            .clone()
            .unwrap_or_else(|| syn::parse_quote!(odm));
        let data = match &item.data {
            SynData::Struct(data) => Data::Struct(
                Style::of(&data.fields),
                fields(cx, derive, &krate, &data.fields, rule(&serde.rename_all)),
            ),
            SynData::Enum(data) => Data::Enum(
                data.variants
                    .iter()
                    .map(|variant| {
                        attr::variant(cx, derive, &variant.attrs);
                        let attrs = serde::SerdeVariant::new(cx, &variant.attrs);
                        let stored = stored(
                            &types::name(&variant.ident),
                            attrs.rename.as_ref(),
                            rule(&serde.rename_all).map(|rule| move |name: &_| rule.variant(name)),
                        );
                        let inner = rule(&attrs.rename_all).or(rule(&serde.rename_all_fields));
                        Variant {
                            ident: &variant.ident,
                            docs: docs(&variant.attrs),
                            serde: attrs,
                            stored,
                            style: Style::of(&variant.fields),
                            fields: fields(cx, derive, &krate, &variant.fields, inner),
                        }
                    })
                    .collect(),
            ),
            SynData::Union(_) => Data::Union,
        };
        Input {
            derive,
            item,
            attrs,
            serde,
            data,
        }
    }

    /// The only stored field of the struct, if serde stores its value in the place of the struct.
    pub(crate) fn wrapped(&self) -> Option<&Field<'a>> {
        let Data::Struct(style, fields) = &self.data else {
            return None;
        };
        if self.serde.transparent.is_none() && *style != Style::Newtype {
            return None;
        }
        let mut stored = fields.iter().filter(|field| {
            field.serde.skip.is_none() && !types::is_written(field.ty, "PhantomData")
        });
        // serde reports any other number than one.
        match (stored.next(), stored.next()) {
            (Some(field), None) => Some(field),
            _ => None,
        }
    }
}

impl Style {
    fn of(fields: &SynFields) -> Self {
        match fields {
            SynFields::Named(_) => Style::Named,
            SynFields::Unnamed(fields) if fields.unnamed.len() == 1 => Style::Newtype,
            SynFields::Unnamed(_) => Style::Tuple,
            SynFields::Unit => Style::Unit,
        }
    }
}

impl Variant<'_> {
    /// The name of its field among the fields of the enum.
    pub(crate) fn field_name(&self) -> String {
        CaseRule::Snake.variant(&types::name(self.ident))
    }
}

impl Field<'_> {
    /// The name in messages.
    pub(crate) fn name(&self) -> String {
        self.ident
            .map_or_else(|| "this field".to_owned(), types::name)
    }
}

fn fields<'a>(
    cx: &Ctxt,
    derive: Derive,
    krate: &Path,
    fields: &'a SynFields,
    rule: Option<CaseRule>,
) -> Vec<Field<'a>> {
    fields
        .iter()
        .map(|field| {
            let serde = match derive {
                Derive::Database => {
                    serde::refuse(cx, &field.attrs);
                    serde::SerdeField::default()
                }
                _ => serde::SerdeField::new(cx, krate, &field.attrs),
            };
            let name = field.ident.as_ref().map(types::name).unwrap_or_default();
            let rule = rule.map(|rule| move |name: &_| rule.field(name));
            Field {
                ident: field.ident.as_ref(),
                ty: &field.ty,
                docs: docs(&field.attrs),
                attrs: attr::FieldAttributes::new(cx, derive, &field.attrs),
                stored: stored(&name, serde.rename.as_ref(), rule),
                serde,
                id: id(cx, derive, &field.attrs),
            }
        })
        .collect()
}

/// An own name goes before the rule for all.
fn stored(
    name: &str,
    rename: Option<&syn::LitStr>,
    rule: Option<impl Fn(&str) -> String>,
) -> String {
    match (rename, rule) {
        (Some(rename), _) => rename.value(),
        (None, Some(rule)) => rule(name),
        (None, None) => name.to_owned(),
    }
}

fn id<'a>(cx: &Ctxt, derive: Derive, attrs: &'a [Attribute]) -> Option<Id<'a>> {
    let attr = attrs.iter().find(|attr| attr.path().is_ident("id"))?;
    let (mut auto, mut sequence) = (Once::new("auto"), Once::new("sequence"));
    if derive == Derive::Document {
        for (key, meta) in keys(cx, attr) {
            match key.as_str() {
                "auto" => auto.set(cx, &meta, flag(cx, &meta)),
                "sequence" => sequence.set(cx, &meta, flag(cx, &meta)),
                _ => unknown(cx, &meta, "id", "`auto` or `sequence`"),
            }
        }
    }
    let source = match (auto.get(), sequence.get()) {
        (Some(_), Some(_)) => {
            let message = "an `_id` has one source: `auto` or `sequence`";
            cx.error(attr, message);
            None
        }
        (Some(_), None) => Some(IdSource::Auto),
        (None, Some(_)) => Some(IdSource::Sequence),
        (None, None) => None,
    };
    Some(Id {
        at: attr.path(),
        source,
    })
}

fn docs(attrs: &[Attribute]) -> Vec<&Attribute> {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident("doc"))
        .collect()
}
