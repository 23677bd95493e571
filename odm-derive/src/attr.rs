//! The grammar of the attributes. Each key is read for itself; the rules over several of them are in
//! [`check`](crate::check).

use quote::ToTokens;
use syn::{Attribute, LitInt, LitStr, Path, Type};

use crate::{ctxt::Ctxt, derive::Derive};

mod case;
mod expires;
mod field;
pub(crate) mod index;
mod new;
mod position;
mod reference;
mod renamed;
pub(crate) mod serde;
mod split;
mod validate;
pub(crate) mod value;

pub(crate) use case::CaseRule;
pub(crate) use expires::Expires;
pub(crate) use field::{FieldAttributes, Public};
pub(crate) use index::Index;
pub(crate) use new::NewDocument;
pub(crate) use position::{Position, own, variant};
pub(crate) use reference::{OnDelete, Reference};
pub(crate) use renamed::Renamed;
pub(crate) use split::Split;
pub(crate) use validate::{Concerns, Validate, Validation};
pub(crate) use value::unraw;
use value::{Once, function, keys, string, unknown};

/// The attributes on the struct or enum.
#[derive(Default)]
pub(crate) struct ContainerAttributes {
    /// `crate = ".."`.
    pub(crate) krate: Option<Path>,
    /// `#[document(collection = "..")]`.
    pub(crate) collection: Option<LitStr>,
    /// `#[document(index(..))]`.
    pub(crate) indexes: Vec<Index>,
    /// `#[document(validation(..))]`.
    pub(crate) validation: Validation,
    /// `#[document(renamed(..))]`.
    pub(crate) renamed: Vec<Renamed>,
    /// `#[document(expires(..))]`.
    pub(crate) expires: Option<Expires>,
    /// `#[document(new = "..")]`.
    pub(crate) new: Option<NewDocument>,
    /// `#[projection(of = "..")]`, `#[patch(of = "..")]`.
    pub(crate) of: Option<Type>,
    /// `#[database(name = "..")]`.
    pub(crate) name: Option<LitStr>,
    /// `#[database(version = ..)]`.
    pub(crate) version: Option<LitInt>,
    /// `#[database(migrations = ..)]`.
    pub(crate) migrations: Option<Path>,
    /// A key was wrong, and may have been meant for one that is missing.
    pub(crate) mistaken: bool,
}

impl ContainerAttributes {
    pub(crate) fn new(cx: &Ctxt, derive: Derive, attrs: &[Attribute]) -> Self {
        let mut krate = Once::new("crate");
        let mut collection = Once::new("collection");
        let mut indexes = Vec::new();
        let mut validation = Once::new("validation");
        let mut renamed = Vec::new();
        let mut expires = Once::new("expires");
        let mut new = Once::new("new");
        let mut migrations = Once::new("migrations");
        let mut of = Once::new("of");
        let mut name = Once::new("name");
        let mut version = Once::new("version");
        let before = cx.count();
        for attr in position::own(cx, derive, Position::Container, attrs) {
            let valid = match derive {
                Derive::Document => {
                    "`collection`, `index`, `unique`, `validation`, `renamed`, `expires`, `new` or `crate`"
                }
                Derive::Embed => "`crate`",
                Derive::Projection | Derive::Patch => "`of` or `crate`",
                Derive::Database => "`name`, `version`, `migrations` or `crate`",
            };
            for (key, meta) in keys(cx, attr) {
                match (derive, key.as_str()) {
                    (_, "crate") => krate.set(cx, &meta, value::path(cx, &meta)),
                    (Derive::Document, "collection") => {
                        collection.set(cx, &meta, string(cx, &meta));
                    }
                    (Derive::Document, "index" | "unique") => indexes.extend(Index::new(cx, &meta)),
                    (Derive::Document, "validation") => {
                        validation.set(cx, &meta, Validation::new(cx, &meta));
                    }
                    (Derive::Document, "renamed") => renamed.extend(Renamed::new(cx, &meta)),
                    (Derive::Document, "expires") => {
                        expires.set(cx, &meta, Expires::new(cx, &meta));
                    }
                    (Derive::Document, "new") => new.set(cx, &meta, NewDocument::new(cx, &meta)),
                    (Derive::Projection | Derive::Patch, "of") => {
                        of.set(cx, &meta, value::ty(cx, &meta))
                    }
                    (Derive::Database, "name") => name.set(cx, &meta, string(cx, &meta)),
                    (Derive::Database, "version") => {
                        version.set(cx, &meta, value::integer(cx, &meta));
                    }
                    (Derive::Database, "migrations") => {
                        let expected = "returns the steps between versions, as `Migrations`";
                        migrations.set(cx, &meta, function(cx, &meta, expected));
                    }
                    _ => unknown(cx, &meta, derive.attribute(), valid),
                }
            }
        }
        ContainerAttributes {
            krate: krate.get(),
            collection: collection.get(),
            indexes,
            validation: validation.get().unwrap_or_default(),
            renamed,
            expires: expires.get(),
            new: new.get(),
            of: of.get(),
            name: name.get(),
            version: version.get(),
            migrations: migrations.get(),
            mistaken: cx.count() > before,
        }
    }
}

/// The text of tokens without the spaces that printing them adds.
pub(crate) fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string().replace(' ', "")
}
