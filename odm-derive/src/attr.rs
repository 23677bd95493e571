//! The grammar of the attributes. Each key is read for itself; what must fit together is in
//! [`check`](crate::check).

use quote::ToTokens;
use syn::{Attribute, LitInt, LitStr, Path, Type};

use crate::{ast::Derive, ctxt::Ctxt};

mod case;
mod count;
mod denormalize;
mod index;
mod place;
mod reference;
pub(crate) mod serde;
mod split;
mod subset;
mod value;

pub(crate) use case::Rule;
pub(crate) use count::Count;
pub(crate) use denormalize::{Denormalize, From, Via};
pub(crate) use index::{Index, Key};
use place::Place;
pub(crate) use place::variant;
pub(crate) use reference::{OnDelete, Reference};
pub(crate) use split::Split;
pub(crate) use subset::Subset;
pub(crate) use value::unraw;
use value::{Once, flag, keys, string, unknown};

/// What stands on the struct or enum.
#[derive(Default)]
pub(crate) struct Container {
    /// `crate = ".."`.
    pub(crate) krate: Option<Path>,
    /// `#[document(collection = "..")]`.
    pub(crate) collection: Option<LitStr>,
    /// `#[document(index(..))]`.
    pub(crate) indexes: Vec<Index>,
    /// `#[projection(of = "..")]`.
    pub(crate) of: Option<Type>,
    /// `#[database(name = "..")]`.
    pub(crate) name: Option<LitStr>,
    /// `#[database(version = ..)]`.
    pub(crate) version: Option<LitInt>,
    /// A key was wrong, and may have been meant for one that is missing.
    pub(crate) mistaken: bool,
}

impl Container {
    pub(crate) fn new(cx: &Ctxt, derive: Derive, attrs: &[Attribute]) -> Self {
        let mut krate = Once::new("crate");
        let mut collection = Once::new("collection");
        let mut indexes = Vec::new();
        let mut of = Once::new("of");
        let mut name = Once::new("name");
        let mut version = Once::new("version");
        let before = cx.count();
        for attr in place::own(cx, derive, Place::Container, attrs) {
            let valid = match derive {
                Derive::Document => "`collection`, `index` or `crate`",
                Derive::Embed => "`crate`",
                Derive::Projection => "`of` or `crate`",
                Derive::Database => "`name`, `version` or `crate`",
            };
            for (key, meta) in keys(cx, attr) {
                match (derive, key.as_str()) {
                    (_, "crate") => krate.set(cx, &meta, value::path(cx, &meta)),
                    (Derive::Document, "collection") => {
                        collection.set(cx, &meta, string(cx, &meta));
                    }
                    (Derive::Document, "index") => indexes.extend(Index::new(cx, &meta)),
                    (Derive::Projection, "of") => of.set(cx, &meta, value::ty(cx, &meta)),
                    (Derive::Database, "name") => name.set(cx, &meta, string(cx, &meta)),
                    (Derive::Database, "version") => {
                        version.set(cx, &meta, value::integer(cx, &meta));
                    }
                    _ => unknown(cx, &meta, derive.attribute(), valid),
                }
            }
        }
        Container {
            krate: krate.get(),
            collection: collection.get(),
            indexes,
            of: of.get(),
            name: name.get(),
            version: version.get(),
            mistaken: cx.count() > before,
        }
    }
}

/// What stands on a field.
///
/// Attributes of derived fields become a [`Mark`](crate::model::Mark).
#[derive(Default)]
pub(crate) struct Field {
    pub(crate) embed: Option<Embed>,
    pub(crate) reference: Option<Reference>,
    pub(crate) index: Option<FieldIndex>,
    pub(crate) version: Option<Path>,
    pub(crate) subset: Option<Subset>,
    pub(crate) denormalize: Option<Denormalize>,
    pub(crate) count: Option<Count>,
    pub(crate) split: Option<Split>,
}

/// `#[embed]`.
pub(crate) struct Embed {
    /// Where the attribute is.
    pub(crate) at: Path,
    /// The value embeds the holder again, by way of other types.
    pub(crate) recursive: bool,
}

/// `#[index]`.
pub(crate) struct FieldIndex {
    /// Where the attribute is.
    pub(crate) at: Path,
    pub(crate) unique: bool,
    pub(crate) name: Option<LitStr>,
}

impl Field {
    pub(crate) fn new(cx: &Ctxt, derive: Derive, attrs: &[Attribute]) -> Self {
        let mut field = Field::default();
        for attr in place::own(cx, derive, Place::Field, attrs) {
            let at = attr.path().clone();
            let twice = match unraw(&at).as_str() {
                "embed" => field.embed.replace(Embed::new(cx, attr)).is_some(),
                "reference" => field.reference.replace(Reference::new(cx, attr)).is_some(),
                "index" => field.index.replace(FieldIndex::new(cx, attr)).is_some(),
                "subset" => field.subset.replace(Subset::new(cx, attr)).is_some(),
                "denormalize" => {
                    let denormalize = Denormalize::new(cx, attr);
                    field.denormalize.replace(denormalize).is_some()
                }
                "count" => field.count.replace(Count::new(cx, attr)).is_some(),
                "split" => {
                    let split = Split::new(cx, attr);
                    split.is_some_and(|split| field.split.replace(split).is_some())
                }
                _ => {
                    for (_, meta) in keys(cx, attr) {
                        cx.error(meta, "`#[version]` takes no keys");
                    }
                    field.version.replace(at.clone()).is_some()
                }
            };
            if twice {
                cx.error(&at, format!("`#[{}]` stands here twice", unraw(&at)));
            }
        }
        field
    }

    /// The name of the attribute that makes the library read the field, if there is one.
    pub(crate) fn read_by(&self) -> Option<&'static str> {
        match self {
            Field {
                reference: Some(_), ..
            } => Some("#[reference]"),
            Field { embed: Some(_), .. } => Some("#[embed]"),
            Field {
                version: Some(_), ..
            } => Some("#[version]"),
            Field { index: Some(_), .. } => Some("#[index]"),
            Field {
                subset: Some(_), ..
            } => Some("#[subset]"),
            Field {
                denormalize: Some(_),
                ..
            } => Some("#[denormalize]"),
            Field { count: Some(_), .. } => Some("#[count]"),
            Field { split: Some(_), .. } => Some("#[split]"),
            _ => None,
        }
    }
}

impl Embed {
    fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let mut recursive = Once::new("recursive");
        for (key, meta) in keys(cx, attr) {
            match key.as_str() {
                "recursive" => recursive.set(cx, &meta, flag(cx, &meta)),
                _ => unknown(cx, &meta, "embed", "`recursive`"),
            }
        }
        Embed {
            at: attr.path().clone(),
            recursive: recursive.get().is_some(),
        }
    }
}

impl FieldIndex {
    fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let mut unique = Once::new("unique");
        let mut name = Once::new("name");
        for (key, meta) in keys(cx, attr) {
            match key.as_str() {
                "unique" => unique.set(cx, &meta, flag(cx, &meta)),
                "name" => name.set(cx, &meta, index::name(cx, &meta)),
                _ => unknown(cx, &meta, "index", "`unique` or `name`"),
            }
        }
        FieldIndex {
            at: attr.path().clone(),
            unique: unique.get().is_some(),
            name: name.get(),
        }
    }
}

/// The text of tokens without the spaces that printing them adds.
fn text(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string().replace(' ', "")
}
