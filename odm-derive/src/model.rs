//! The model of a valid input. Nothing here can fail.

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Data as SynData, LitInt, LitStr, Path, Type, Visibility};

use crate::{
    ast::{Data, Field as AstField, IdSource, Input, Style},
    attr::{self, Expires, Index, OnDelete, Renamed, Split, Validation, index::Key},
    derive::Derive,
    types,
};

mod derived;
mod head;
mod structure;
mod variants;

pub(crate) use derived::{CopiedField, DerivedField};
pub(crate) use head::Head;
pub(crate) use structure::{Checked, Element, Member, Optional, Place, Structure, VariantContent};

/// A checked input.
pub(crate) enum Model {
    Document(Box<Document>),
    Embed(Box<Embed>),
    Projection(Box<Projection>),
    Database(Box<Database>),
}

/// The model of `derive(Document)`.
pub(crate) struct Document {
    pub(crate) head: Head,
    pub(crate) structure: Structure,
    pub(crate) collection: LitStr,
    /// The field that is stored as `_id`.
    pub(crate) id: Ident,
    pub(crate) id_type: Type,
    /// The type that says how the `_id` is stored, if it is another one.
    pub(crate) native_id: Option<Type>,
    /// The type and the stored name of the `#[version]`.
    pub(crate) version: Option<(Type, String)>,
    /// The types and the stored names of the fields that hold the times of writes.
    pub(crate) created_at: Option<(Type, String)>,
    pub(crate) updated_at: Option<(Type, String)>,
    pub(crate) indexes: Vec<Index>,
    pub(crate) expires: Option<Expires>,
    pub(crate) validation: Validation,
    /// The fields that had other names.
    pub(crate) renamed: Vec<Renamed>,
    pub(crate) new: Option<New>,
}

/// The struct of a new document.
pub(crate) struct New {
    pub(crate) name: Ident,
    /// Its derives besides `Serialize`.
    pub(crate) derives: TokenStream,
    pub(crate) vis: Visibility,
    /// The attributes of the document, and its fields that a caller gives.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) fields: Vec<syn::Field>,
    /// The source of the `_id`, if the caller does not give it.
    pub(crate) id_source: Option<IdSource>,
}

/// The model of `derive(Embed)`.
pub(crate) struct Embed {
    pub(crate) head: Head,
    pub(crate) content: Content,
}

/// How an embedded value is stored.
pub(crate) enum Content {
    /// As fields.
    Fields {
        structure: Structure,
        /// It is around one reference, and can be joined like it.
        link: Option<Link>,
    },
    /// As the embedded value in its one field.
    Wrapper {
        inner: Type,
        field: syn::Member,
        recursive: bool,
    },
    /// As the scalar in its one field.
    Scalar(Box<Scalar>),
}

/// The one stored field of a struct that is stored as a scalar.
pub(crate) struct Scalar {
    pub(crate) ty: Type,
    /// The type that says how it is stored.
    pub(crate) stored: Type,
    pub(crate) field: syn::Member,
    /// The fields that are not stored.
    pub(crate) others: Vec<syn::Member>,
    /// serde reads the struct as it reads the scalar. It reads no other newtype from the key of a map.
    pub(crate) transparent: bool,
}

/// The one reference in an embedded value.
pub(crate) struct Link {
    /// The position of the reference in `Structure::members`.
    pub(crate) member: usize,
    /// Besides it, the value holds only copies of fields of the referenced document, and so can be made of
    /// that document.
    pub(crate) alone: bool,
}

/// The model of `derive(Projection)`.
pub(crate) struct Projection {
    pub(crate) head: Head,
    pub(crate) structure: Structure,
    pub(crate) of: Type,
}

/// The model of `derive(Database)`.
pub(crate) struct Database {
    pub(crate) head: Head,
    pub(crate) name: LitStr,
    pub(crate) version: LitInt,
    /// The function that returns its migrations.
    pub(crate) migrations: Option<Path>,
    /// The field, its type, and the model in it.
    pub(crate) repositories: Vec<(Ident, Type, Type)>,
}

/// The role of a field for the library.
pub(crate) enum Role {
    Plain,
    Embed {
        recursive: bool,
    },
    Reference {
        parent: bool,
        one: bool,
        unchecked: bool,
        /// The literal in which the rule is named, and the rule.
        on_delete: Option<(LitStr, OnDelete)>,
        /// The literal that names the inverse reference, and its field.
        inverse: Option<(LitStr, Ident)>,
    },
    Derived(Box<dyn DerivedField>),
    Split(Box<Split>),
}

/// The kind of a field, which says which updates a user may make: the third parameter of `odm::model::Field`.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Plain,
    Unchecked,
    Identity,
    Version,
    WriteTime,
    Derived,
}

impl Role {
    /// The role of a field among the fields beside it.
    fn of(head: &Head, field: &AstField<'_>, fields: &[AstField<'_>]) -> Self {
        let attrs = &field.attrs;
        if let Some(split) = attrs.split() {
            return Role::Split(Box::new(split.clone()));
        }
        let declared = attrs.derived();
        if let Some(derived) = declared.and_then(|of| of.declaration.field(head, fields)) {
            return Role::Derived(derived);
        }
        match (attrs.embed(), attrs.reference()) {
            (Some(embed), _) => Role::Embed {
                recursive: embed.recursive,
            },
            (None, Some(reference)) => Role::Reference {
                parent: reference.parent,
                one: reference.one,
                unchecked: reference.unchecked.is_some(),
                on_delete: reference.on_delete.clone(),
                inverse: reference.inverse.clone(),
            },
            (None, None) => Role::Plain,
        }
    }
}

impl Kind {
    fn of(derive: Derive, field: &AstField<'_>) -> Self {
        let attrs = &field.attrs;
        match (attrs.version(), attrs.reference()) {
            _ if derive == Derive::Document && field.stored == "_id" => Kind::Identity,
            _ if attrs.derived().is_some() => Kind::Derived,
            _ if attrs.write_time().is_some() => Kind::WriteTime,
            (Some(_), _) => Kind::Version,
            (None, Some(reference)) if reference.dangles() => Kind::Unchecked,
            (None, _) => Kind::Plain,
        }
    }
}

impl Model {
    /// The model of an input, if that has passed the checks.
    pub(crate) fn new(input: &Input<'_>) -> Option<Self> {
        let mut head = Head::new(input);
        Some(match (input.derive, &input.data) {
            (Derive::Document, Data::Struct(Style::Named, fields)) => {
                let structure = Structure::of_struct(&mut head, input, fields);
                let id = fields
                    .iter()
                    .find(|field| field.stored == "_id" && field.serde.flatten.is_none())?;
                let marked = |mark: fn(&attr::FieldAttributes) -> Option<&Path>| {
                    let field = fields.iter().find(|field| mark(&field.attrs).is_some())?;
                    Some((head.stored_type(field), field.stored.clone()))
                };
                Model::Document(Box::new(Document {
                    collection: input.attrs.collection.clone()?,
                    id: id.ident?.clone(),
                    id_type: head.without_self(id.ty),
                    native_id: id.serde.native.then(|| head.stored_type(id)),
                    version: marked(attr::FieldAttributes::version),
                    created_at: marked(attr::FieldAttributes::created_at),
                    updated_at: marked(attr::FieldAttributes::updated_at),
                    indexes: indexes(input, fields),
                    expires: input.attrs.expires.clone(),
                    validation: input.attrs.validation.clone(),
                    renamed: input.attrs.renamed.clone(),
                    new: New::of(input, fields),
                    structure,
                    head,
                }))
            }
            (Derive::Embed, Data::Struct(_, fields)) => {
                let content = if let Some(inner) = input.wrapped() {
                    Content::of_wrapper(&mut head, input, fields, inner)?
                } else {
                    let structure = Structure::of_struct(&mut head, input, fields);
                    let link = link(&structure, fields.len());
                    Content::Fields { structure, link }
                };
                Model::Embed(Box::new(Embed { head, content }))
            }
            (Derive::Embed, Data::Enum(variants)) => {
                let structure = Structure::of_enum(&mut head, input, variants);
                Model::Embed(Box::new(Embed {
                    head,
                    content: Content::Fields {
                        structure,
                        link: None,
                    },
                }))
            }
            (Derive::Projection, Data::Struct(Style::Named, fields)) => {
                Model::Projection(Box::new(Projection {
                    structure: Structure::of_struct(&mut head, input, fields),
                    of: input.attrs.of.clone()?,
                    head,
                }))
            }
            (Derive::Database, Data::Struct(Style::Named, fields)) => {
                Model::Database(Box::new(Database::new(head, input, fields)?))
            }
            _ => return None,
        })
    }
}

impl Content {
    /// The content of a struct that serde stores as one of its fields.
    fn of_wrapper(
        head: &mut Head,
        input: &Input<'_>,
        fields: &[AstField<'_>],
        inner: &AstField<'_>,
    ) -> Option<Self> {
        let mut others: Vec<syn::Member> = fields
            .iter()
            .enumerate()
            .map(|(position, field)| match field.ident {
                Some(ident) => ident.clone().into(),
                None => position.into(),
            })
            .collect();
        let position = fields.iter().position(|field| std::ptr::eq(field, inner))?;
        let field = others.remove(position);
        let ty = head.without_self(inner.ty);
        Some(match inner.attrs.embed() {
            Some(embed) => {
                head.bound_wrapped(&ty);
                Content::Wrapper {
                    inner: ty,
                    field,
                    recursive: embed.recursive,
                }
            }
            None => {
                let stored = head.stored_type(inner);
                head.bound_known(&stored);
                Content::Scalar(Box::new(Scalar {
                    ty,
                    stored,
                    field,
                    others,
                    transparent: input.serde.transparent.is_some(),
                }))
            }
        })
    }
}

impl New {
    pub(crate) fn of(input: &Input<'_>, fields: &[AstField<'_>]) -> Option<Self> {
        let declared = input.attrs.new.clone()?;
        let SynData::Struct(data) = &input.item.data else {
            return None;
        };
        let id_source = |field: &AstField<'_>| field.id.as_ref()?.source;
        let is_given = |field: &AstField<'_>| {
            let attrs = &field.attrs;
            let is_written = attrs.version().is_some() || attrs.write_time().is_some();
            let is_stored = field.serde.skip.is_none();
            is_stored && attrs.derived().is_none() && !is_written && id_source(field).is_none()
        };
        let given = data.fields.iter().zip(fields);
        let given = given.filter(|(_, field)| is_given(field));
        Some(New {
            name: declared.name,
            derives: declared.derives,
            vis: input.item.vis.clone(),
            attrs: input.item.attrs.clone(),
            fields: given.map(|(field, _)| field.clone()).collect(),
            id_source: fields.iter().find_map(id_source),
        })
    }
}

impl Database {
    fn new(head: Head, input: &Input<'_>, fields: &[AstField<'_>]) -> Option<Self> {
        let repository = |field: &AstField<'_>| {
            let model = types::argument(field.ty, "Repository")?;
            Some((field.ident?.clone(), field.ty.clone(), model.clone()))
        };
        Some(Database {
            head,
            name: input.attrs.name.clone()?,
            version: input.attrs.version.clone()?,
            migrations: input.attrs.migrations.clone(),
            repositories: fields.iter().map(repository).collect::<Option<_>>()?,
        })
    }
}

/// The indexes on fields, and then the indexes on the struct. An index that finds the expired documents is the last, if no
/// other index of all documents begins with the field.
fn indexes(input: &Input<'_>, fields: &[AstField<'_>]) -> Vec<Index> {
    let mut indexes = declared_indexes(input, fields);
    if let Some(Expires { literal, key, .. }) = &input.attrs.expires {
        let complete = indexes.iter().filter(|index| index.filter.is_none());
        let mut first_keys = complete.filter_map(|index| index.keys.first());
        if first_keys.all(|first| first.path != key.path) {
            indexes.push(Index {
                literal: literal.clone(),
                keys: vec![key.clone()],
                unique: false,
                case_insensitive: false,
                filter: None,
                name: None,
            });
        }
    }
    indexes
}

fn declared_indexes(input: &Input<'_>, fields: &[AstField<'_>]) -> Vec<Index> {
    let of_field = |field: &AstField<'_>| {
        let index = field.attrs.index()?;
        let ident = field.ident?;
        Some(Index {
            literal: LitStr::new(&types::name(ident), ident.span()),
            keys: vec![Key {
                path: vec![ident.clone()],
                entry: None,
                descending: false,
            }],
            unique: index.unique,
            case_insensitive: index.case_insensitive,
            filter: index.filter.clone(),
            name: index.name.clone(),
        })
    };
    fields
        .iter()
        .filter_map(of_field)
        .chain(input.attrs.indexes.iter().cloned())
        .collect()
}

fn link(structure: &Structure, fields: usize) -> Option<Link> {
    let mut references = Vec::new();
    for (position, member) in structure.members.iter().enumerate() {
        match &member.role {
            Role::Reference { .. } => references.push((position, member)),
            Role::Embed { .. } => return None,
            Role::Plain | Role::Derived(_) | Role::Split(_) => {}
        }
    }
    let taken = structure.copies();
    let taken = taken.filter(|(member, copy)| copy.is_taken(&member.ty));
    match references.as_slice() {
        // An alias of anything but a `Ref` makes no link, which the compiler sees.
        [(position, member)]
            if !types::is_written(&member.ty, "Option")
                && !types::is_written(&member.ty, "Vec") =>
        {
            Some(Link {
                member: *position,
                alone: fields == 1 + taken.count(),
            })
        }
        _ => None,
    }
}
