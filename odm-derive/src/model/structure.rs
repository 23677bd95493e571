//! The fields of a struct or enum, as paths see them.

use proc_macro2::Ident;
use syn::{Attribute, Path, Type, parse_quote};

use super::{CopiedField, Head, Kind, Role};
use crate::{
    ast::{Field as AstField, Form, Input},
    attr::Public,
    attr::Validate,
    derive::Derive,
    types,
};

/// The stored fields of a type.
pub(crate) struct Structure {
    /// The type that has them.
    pub(crate) ident: Ident,
    /// The same with its parameters.
    pub(crate) this: Path,
    /// Its name in messages and in the documentation.
    pub(crate) name: String,
    /// The generated struct of typed fields.
    pub(crate) fields: Ident,
    pub(crate) names: Vec<Name>,
    pub(crate) members: Vec<Member>,
    /// The variants of an enum that have fields of their own. Each gets a hidden type.
    pub(crate) variants: Vec<Structure>,
    /// The values in variants that are stored as arrays.
    pub(crate) arrays: Vec<Element>,
    /// The variants around a value that is stored in the place of the whole, and whose fields are not
    /// known.
    pub(crate) unseen: Vec<Ident>,
    /// The variants of an enum as they are stored; `None` of a struct.
    pub(crate) forms: Option<Vec<VariantForm>>,
    /// `#[serde(deny_unknown_fields)]`.
    pub(crate) is_closed: bool,
    /// `#[serde(default)]` on the struct.
    pub(crate) defaulted: bool,
    /// It is in a variant, which has all of its fields where it is the stored one.
    pub(crate) is_variant: bool,
}

/// A variant of an enum as it is stored.
pub(crate) struct VariantForm {
    pub(crate) name: String,
    pub(crate) form: Form,
    pub(crate) content: VariantContent,
}

/// The content of a variant.
pub(crate) enum VariantContent {
    None,
    /// A tuple.
    Array,
    /// The library does not see it.
    Any,
    /// The fields of this hidden type.
    Fields(Path),
    Value(Box<Type>),
}

/// The way to the value of a field, to check it.
#[derive(Clone)]
pub(crate) enum Checked {
    /// There are no values of the type.
    Not,
    Field(syn::Member),
    /// In a variant around it.
    Variant(Ident),
    /// In the fields of a variant, whose position among [`variants`](Structure::variants) it is.
    Fields(Ident, usize),
}

/// A value in a variant that is stored as an array.
pub(crate) struct Element {
    pub(crate) variant: Ident,
    pub(crate) ty: Type,
    /// It is marked `#[opaque]`.
    pub(crate) opaque: bool,
}

/// One stored name.
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) optional: Optional,
}

/// Whether a stored value can lack a name.
pub(crate) enum Optional {
    Never,
    Always,
    /// As the type says.
    ByType(Box<Type>),
}

/// One field.
pub(crate) struct Member {
    /// Its name among the typed fields. A field without one has no path that can be written, and is
    /// only in the shape.
    pub(crate) ident: Option<Ident>,
    pub(crate) docs: Vec<Attribute>,
    /// The type that says how it is stored.
    pub(crate) ty: Type,
    /// The user has written the type.
    pub(crate) users: bool,
    pub(crate) place: Place,
    pub(crate) role: Role,
    pub(crate) kind: Kind,
    /// It is stored in a form that only its own functions know: `#[serde(with = "..")]`.
    pub(crate) otherwise: bool,
    /// It is marked `#[opaque]`.
    pub(crate) opaque: bool,
    /// `skip_serializing_if`.
    pub(crate) skipped: Option<syn::Path>,
    /// A stored value can lack it, since serde has a default for it.
    pub(crate) defaulted: bool,
    pub(crate) validate: Option<Validate>,
    /// The name under which clients see it, if any, where that is not the stored one.
    pub(crate) public: Option<Public>,
    pub(crate) checked: Checked,
}

/// Where a field is stored.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// Under this one of the stored names.
    At(usize),
    /// Its own fields are stored in its place: `#[serde(flatten)]`.
    Flattened {
        /// A stored value can lack all of them.
        optional: bool,
    },
    /// It is stored in the place of the whole value, as one of the variants of an enum.
    Whole,
}

impl Structure {
    pub(super) fn empty(head: &Head, ident: Ident, name: String) -> Self {
        let (_, ty_generics, _) = head.generics.split_for_impl();
        Structure {
            this: types::applied(&ident, &ty_generics),
            fields: head.fresh(&format!("{}Fields", types::name(&ident))),
            ident,
            name,
            names: Vec::new(),
            members: Vec::new(),
            variants: Vec::new(),
            arrays: Vec::new(),
            unseen: Vec::new(),
            forms: None,
            is_closed: false,
            defaulted: false,
            is_variant: false,
        }
    }

    pub(super) fn of_struct(head: &mut Head, input: &Input<'_>, fields: &[AstField<'_>]) -> Self {
        let mut structure = Structure::of_fields(head, input, fields);
        if let Some(tag) = &input.serde.tag {
            structure.tag(&tag.value(), tag.span());
        }
        structure
    }

    /// The fields alone, which no mistake in the attributes makes impossible.
    pub(crate) fn of_fields(head: &mut Head, input: &Input<'_>, fields: &[AstField<'_>]) -> Self {
        let mut structure = Structure::empty(head, head.ident.clone(), head.name.clone());
        structure.add(head, input.derive, fields, false);
        structure.is_closed = input.serde.deny_unknown_fields.is_some();
        structure.defaulted = input.serde.default;
        structure
    }

    /// Adds the fields of a struct, or of a variant that need not be the stored one.
    pub(super) fn add(
        &mut self,
        head: &mut Head,
        derive: Derive,
        fields: &[AstField<'_>],
        variant: bool,
    ) {
        for (at, field) in fields.iter().enumerate() {
            if field.serde.skip.is_some() {
                continue;
            }
            let ty = head.stored_type(field);
            let role = Role::of(head, field, fields);
            match role {
                Role::Embed { .. } => head.bound_embed(&ty),
                Role::Reference { .. } => head.bound_reference(&ty),
                Role::Plain if !is_unseen(field) => head.bound_known(&ty),
                Role::Plain | Role::Split(_) | Role::Derived(_) => {}
            }
            let place = if field.serde.flatten.is_some() {
                Place::Flattened {
                    optional: variant || types::argument(&ty, "Option").is_some(),
                }
            } else {
                let optional = if variant || field.serde.skip_serializing_if.is_some() {
                    Optional::Always
                } else {
                    Optional::ByType(Box::new(ty.clone()))
                };
                Place::At(self.name(field.stored.clone(), optional))
            };
            self.members.push(Member {
                ident: field.ident.cloned(),
                docs: field.docs.iter().map(|&attr| attr.clone()).collect(),
                ty,
                users: true,
                place,
                role,
                kind: Kind::of(derive, field),
                otherwise: field.serde.with.is_some(),
                opaque: field.attrs.opaque().is_some(),
                skipped: field
                    .serde
                    .skip_serializing_if
                    .as_ref()
                    .map(|skip| skip.at.clone()),
                defaulted: field.serde.default,
                validate: field.attrs.validate().cloned(),
                public: field.attrs.public().cloned(),
                checked: Checked::Field(match field.ident {
                    Some(ident) => ident.clone().into(),
                    None => at.into(),
                }),
            });
        }
    }

    /// Adds a stored name, and returns its position.
    pub(super) fn name(&mut self, text: String, optional: Optional) -> usize {
        self.names.push(Name { text, optional });
        self.names.len() - 1
    }

    /// Adds the field in which serde stores the name of the type or of the variant.
    pub(super) fn tag(&mut self, name: &str, span: proc_macro2::Span) {
        let place = Place::At(self.name(name.to_owned(), Optional::Never));
        let doc = format!(" The tag: which variant of `{}` it is.", self.name);
        self.members.push(Member {
            ident: types::field_ident(name, span),
            docs: vec![parse_quote!(#[doc = #doc])],
            ty: parse_quote!(::std::string::String),
            users: false,
            place,
            role: Role::Plain,
            kind: Kind::Plain,
            otherwise: false,
            opaque: false,
            skipped: None,
            defaulted: false,
            validate: None,
            public: None,
            checked: Checked::Not,
        });
    }

    /// The fields of the type and of its variants.
    pub(crate) fn all_members(&self) -> impl Iterator<Item = &Member> {
        let inner = self.variants.iter().flat_map(|variant| &variant.members);
        self.members.iter().chain(inner)
    }

    /// The copies among the fields, in the order of `COPIES`.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (&Member, &dyn CopiedField)> {
        self.members.iter().filter_map(|member| match &member.role {
            Role::Derived(derived) => Some((member, derived.copy()?)),
            _ => None,
        })
    }
}

/// Whether the library does not see the content of a field without a role.
pub(super) fn is_unseen(field: &AstField<'_>) -> bool {
    field.attrs.opaque().is_some() || field.serde.with.is_some()
}

impl Member {
    /// Whether functions may check its value.
    pub(crate) fn is_checked(&self) -> bool {
        let is_embedded = matches!(self.role, Role::Embed { .. });
        !matches!(self.checked, Checked::Not) && (is_embedded || self.with().is_some())
    }

    /// The function that checks its value.
    pub(crate) fn with(&self) -> Option<&Path> {
        self.validate.as_ref()?.with.as_ref()
    }

    /// Whether the library does not see its content.
    pub(crate) fn is_unseen(&self) -> bool {
        matches!(self.role, Role::Plain) && (self.opaque || self.otherwise)
    }

    /// The stored name; empty where it is stored in another's place.
    pub(crate) fn stored<'a>(&self, structure: &'a Structure) -> &'a str {
        match self.place {
            Place::At(position) => &structure.names[position].text,
            Place::Flattened { .. } | Place::Whole => "",
        }
    }
}
