//! The fields of enums, as paths see them.

use proc_macro2::Ident;
use syn::parse_quote;

use super::{
    Head, Kind, Place, Role, Structure,
    structure::{Checked, Element, Member, Optional, VariantContent, VariantForm, is_unseen},
};
use crate::{
    ast::{Form, Input, Style, Variant},
    types,
};

/// The name of the hidden type of a variant with fields of its own. It is not that of the typed fields of the
/// enum, or of another variant.
fn hidden_ident(head: &Head, variant: &Variant<'_>) -> Ident {
    let name = format!("{}{}", head.name, types::name(variant.ident));
    let underscore = if name.ends_with("Fields") { "_" } else { "" };
    head.fresh(&format!("{name}{underscore}"))
}

fn content_of(head: &Head, variant: &Variant<'_>) -> VariantContent {
    let mut stored = variant
        .fields
        .iter()
        .filter(|field| field.serde.skip.is_none());
    match variant.style {
        Style::Unit => VariantContent::None,
        Style::Tuple => VariantContent::Array,
        Style::Named if stored.next().is_none() => VariantContent::Any,
        Style::Named => {
            let ident = hidden_ident(head, variant);
            let (_, generics, _) = head.generics.split_for_impl();
            VariantContent::Fields(types::applied(&ident, &generics))
        }
        Style::Newtype => match stored.next() {
            Some(field) if !is_unseen(field) => {
                VariantContent::Value(Box::new(head.stored_type(field)))
            }
            _ => VariantContent::Any,
        },
    }
}

impl Structure {
    pub(super) fn of_enum(head: &mut Head, input: &Input<'_>, variants: &[Variant<'_>]) -> Self {
        let mut structure = Structure::empty(head, head.ident.clone(), head.name.clone());
        structure.is_closed = input.serde.deny_unknown_fields.is_some();
        let form = Form::of(&input.serde);
        if let Form::Internal { tag } | Form::Adjacent { tag, .. } = &form {
            let span = input
                .serde
                .tag
                .as_ref()
                .map_or(input.item.ident.span(), |tag| tag.span());
            structure.tag(tag, span);
        }
        // All variants with an adjacent tag share one name.
        let content = match &form {
            Form::Adjacent { content, .. } => {
                Some(structure.name(content.clone(), Optional::Always))
            }
            _ => None,
        };
        let mut forms = Vec::new();
        for variant in variants.iter().filter(|variant| !variant.serde.skip) {
            let form = form.of_variant(variant);
            forms.push(VariantForm {
                name: variant.stored.clone(),
                form: form.clone(),
                content: content_of(head, variant),
            });
            match variant.style {
                Style::Unit => {}
                Style::Tuple => {
                    for field in &variant.fields {
                        let element = Element {
                            variant: variant.ident.clone(),
                            ty: head.stored_type(field),
                            opaque: is_unseen(field),
                        };
                        if !element.opaque {
                            head.bound_known(&element.ty);
                        }
                        structure.arrays.push(element);
                    }
                }
                Style::Named => structure.named(head, input, variant, &form, content),
                Style::Newtype => structure.newtype(head, variant, &form, content),
            }
        }
        structure.forms = Some(forms);
        structure
    }

    /// A variant with fields of its own: it has a hidden type in paths.
    fn named(
        &mut self,
        head: &mut Head,
        input: &Input<'_>,
        variant: &Variant<'_>,
        form: &Form,
        content: Option<usize>,
    ) {
        let ident = hidden_ident(head, variant);
        let name = format!("{}::{}", head.name, types::name(variant.ident));
        let mut inner = Structure::empty(head, ident, name);
        inner.is_variant = true;
        inner.is_closed = self.is_closed;
        inner.add(head, input.derive, &variant.fields, true);
        if inner.members.is_empty() {
            return;
        }
        let this = &inner.this;
        let place = match form {
            Form::External => Place::At(self.name(variant.stored.clone(), Optional::Always)),
            Form::Adjacent { .. } => content.map_or(Place::Whole, Place::At),
            // Its names say themselves that they can be missing.
            Form::Internal { .. } | Form::Untagged => Place::Flattened { optional: false },
        };
        self.members.push(Member {
            ident: types::field_ident(&variant.field_name(), variant.ident.span()),
            docs: variant.docs.iter().map(|&attr| attr.clone()).collect(),
            ty: parse_quote!(#this),
            users: false,
            place,
            role: Role::Embed { recursive: false },
            kind: Kind::Plain,
            otherwise: false,
            opaque: false,
            skipped: None,
            defaulted: false,
            validate: None,
            public: None,
            checked: Checked::Fields(variant.ident.clone(), self.variants.len()),
        });
        self.variants.push(inner);
    }

    /// A variant around one value.
    fn newtype(
        &mut self,
        head: &mut Head,
        variant: &Variant<'_>,
        form: &Form,
        content: Option<usize>,
    ) {
        let Some(field) = variant
            .fields
            .first()
            .filter(|field| field.serde.skip.is_none())
        else {
            return;
        };
        let ty = head.stored_type(field);
        let role = Role::of(head, field, &variant.fields);
        match role {
            Role::Embed { .. } => head.bound_embed(&ty),
            Role::Reference { .. } => head.bound_reference(&ty),
            Role::Plain if !is_unseen(field) => head.bound_known(&ty),
            Role::Plain | Role::Split(_) | Role::Derived(_) => {}
        }
        let mut ident = types::field_ident(&variant.field_name(), variant.ident.span());
        let place = match (form, &role) {
            (Form::External, _) => Place::At(self.name(variant.stored.clone(), Optional::Always)),
            (Form::Adjacent { .. }, _) => content.map_or(Place::Whole, Place::At),
            (Form::Internal { .. }, Role::Embed { .. }) => Place::Flattened { optional: true },
            (Form::Untagged, Role::Embed { .. }) => {
                // A list in the place of the value has no fields; the shape knows of it.
                if types::argument(&ty, "Vec").is_some() {
                    ident = None;
                }
                Place::Whole
            }
            // A value in the place of the whole has no name.
            (Form::Internal { .. } | Form::Untagged, _) => {
                if !types::is_plain(&ty) {
                    self.unseen.push(variant.ident.clone());
                }
                ident = None;
                Place::Whole
            }
        };
        self.members.push(Member {
            ident,
            docs: variant.docs.iter().map(|&attr| attr.clone()).collect(),
            ty,
            users: true,
            place,
            role,
            kind: match field.attrs.reference() {
                Some(reference) if reference.dangles() => Kind::Unchecked,
                _ => Kind::Plain,
            },
            otherwise: field.serde.with.is_some(),
            opaque: field.attrs.opaque().is_some(),
            skipped: field
                .serde
                .skip_serializing_if
                .as_ref()
                .map(|skip| skip.at.clone()),
            defaulted: false,
            validate: field.attrs.validate().cloned(),
            public: None,
            checked: Checked::Variant(variant.ident.clone()),
        });
    }
}
