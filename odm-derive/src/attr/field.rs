//! The marks on a field.

use syn::{Attribute, LitStr, Path};

use super::{
    Reference, Split, Validate,
    index::{filter, name},
    position::{Position, own},
    unraw,
    value::{Once, flag, keys, string, unknown},
};
use crate::{
    ctxt::Ctxt,
    derive::Derive,
    derived::{Declared, DerivedKind, Indexed},
};

/// The attributes of this library on a field, all of which go together.
///
/// An attribute that does not go with an earlier one is reported, and left out.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    marks: Vec<Mark>,
}

/// One attribute on a field.
enum Mark {
    Embed(EmbedAttribute),
    Opaque(Path),
    Reference(Reference),
    Index(FieldIndex),
    Version(Path),
    CreatedAt(Path),
    UpdatedAt(Path),
    Split(Split),
    Derived(Declared),
    Validate(Validate),
    Public(Public),
}

/// `#[public(skip)]` or `#[public(rename = "..")]`.
#[derive(Clone)]
pub(crate) struct Public {
    /// The attribute's name.
    pub(crate) at: Path,
    /// The name that clients see; `None` if they do not see the field.
    pub(crate) name: Option<LitStr>,
}

/// `#[embed]`.
pub(crate) struct EmbedAttribute {
    /// The attribute's name.
    pub(crate) at: Path,
    /// Whether the value embeds the holder again, by way of other types.
    pub(crate) recursive: bool,
}

/// `#[index]`.
pub(crate) struct FieldIndex {
    /// The attribute's name.
    pub(crate) at: Path,
    pub(crate) unique: bool,
    pub(crate) case_insensitive: bool,
    pub(crate) filter: Option<Path>,
    pub(crate) name: Option<LitStr>,
}

macro_rules! accessors {
    ($($name:ident: $variant:ident -> $type:ty;)*) => { $(
        pub(crate) fn $name(&self) -> Option<&$type> {
            self.marks.iter().find_map(|mark| match mark {
                Mark::$variant(mark) => Some(mark),
                _ => None,
            })
        }
    )* };
}

impl FieldAttributes {
    pub(crate) fn new(cx: &Ctxt, derive: Derive, attrs: &[Attribute]) -> Self {
        let mut marks = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for attr in own(cx, derive, Position::Field, attrs) {
            let name = unraw(attr.path());
            match names.iter().find(|other| !combine(other, &name)) {
                None => marks.extend(Mark::new(cx, &name, attr)),
                Some(other) if *other == name => {
                    cx.error(attr.path(), format!("duplicate attribute `#[{name}]`"));
                }
                Some(other) => cx.error(
                    attr.path(),
                    format!("`#[{name}]` cannot be combined with `#[{other}]`"),
                ),
            }
            names.push(name);
        }
        FieldAttributes { marks }
    }

    accessors! {
        embed: Embed -> EmbedAttribute;
        opaque: Opaque -> Path;
        reference: Reference -> Reference;
        index: Index -> FieldIndex;
        version: Version -> Path;
        created_at: CreatedAt -> Path;
        updated_at: UpdatedAt -> Path;
        split: Split -> Split;
        derived: Derived -> Declared;
        validate: Validate -> Validate;
        public: Public -> Public;
    }

    /// The mark of a field that holds the time of a write.
    pub(crate) fn write_time(&self) -> Option<&Path> {
        self.created_at().or_else(|| self.updated_at())
    }

    /// The name of the attribute because of which the library reads the field.
    pub(crate) fn read_by(&self) -> Option<String> {
        let mut marks = self.marks.iter();
        let role = marks.find(|mark| {
            !matches!(
                mark,
                Mark::Index(_) | Mark::Opaque(_) | Mark::Validate(_) | Mark::Public(_)
            )
        });
        let index = || {
            self.marks
                .iter()
                .find(|mark| matches!(mark, Mark::Index(_)))
        };
        let mark = role.or_else(index)?;
        Some(format!("#[{}]", mark.name()))
    }
}

/// Whether two attributes go together: an index goes with each field that is stored as one value in the
/// document, `validate` with each field that the library does not write itself, `public` with all, and no other attribute
/// goes with another.
fn combine(one: &str, other: &str) -> bool {
    if let ("public", name) | (name, "public") = (one, other) {
        return name != "public";
    }
    // The library writes a derived field, the record of a write and the key of a cold part itself.
    if let ("validate", name) | (name, "validate") = (one, other) {
        let is_written = matches!(name, "split" | "version" | "created_at" | "updated_at");
        return name != "validate" && !is_written && DerivedKind::of(name).is_none();
    }
    let indexed = match (one, other) {
        ("index", name) | (name, "index") => name,
        _ => return false,
    };
    match DerivedKind::of(indexed) {
        Some(kind) => kind.indexed != Indexed::Nothing,
        None => !matches!(indexed, "index" | "split"),
    }
}

impl Mark {
    /// `None` if the attribute is wrong in itself, which has been reported.
    fn new(cx: &Ctxt, name: &str, attr: &Attribute) -> Option<Self> {
        Some(match name {
            "embed" => Mark::Embed(EmbedAttribute::new(cx, attr)),
            "reference" => Mark::Reference(Reference::new(cx, attr)),
            "index" => Mark::Index(FieldIndex::new(cx, attr)),
            "split" => Mark::Split(Split::new(cx, attr)?),
            "validate" => Mark::Validate(Validate::new(cx, attr)),
            "public" => Mark::Public(Public::new(cx, attr)?),
            _ => match DerivedKind::of(name) {
                Some(kind) => Mark::Derived(Declared::new(cx, kind, attr)),
                None => {
                    for (_, meta) in keys(cx, attr) {
                        cx.error(meta, format!("`#[{name}]` takes no keys"));
                    }
                    let at = attr.path().clone();
                    match name {
                        "opaque" => Mark::Opaque(at),
                        "created_at" => Mark::CreatedAt(at),
                        "updated_at" => Mark::UpdatedAt(at),
                        _ => Mark::Version(at),
                    }
                }
            },
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Mark::Embed(_) => "embed",
            Mark::Opaque(_) => "opaque",
            Mark::Reference(_) => "reference",
            Mark::Index(_) => "index",
            Mark::Version(_) => "version",
            Mark::CreatedAt(_) => "created_at",
            Mark::UpdatedAt(_) => "updated_at",
            Mark::Split(_) => "split",
            Mark::Validate(_) => "validate",
            Mark::Public(_) => "public",
            Mark::Derived(declared) => declared.kind.attribute,
        }
    }
}

impl EmbedAttribute {
    fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let mut recursive = Once::new("recursive");
        for (key, meta) in keys(cx, attr) {
            match key.as_str() {
                "recursive" => recursive.set(cx, &meta, flag(cx, &meta)),
                _ => unknown(cx, &meta, "embed", "`recursive`"),
            }
        }
        EmbedAttribute {
            at: attr.path().clone(),
            recursive: recursive.get().is_some(),
        }
    }
}

impl Public {
    fn new(cx: &Ctxt, attr: &Attribute) -> Option<Self> {
        let mut skip = Once::new("skip");
        let mut rename = Once::new("rename");
        let before = cx.count();
        for (key, meta) in keys(cx, attr) {
            match key.as_str() {
                "skip" => skip.set(cx, &meta, flag(cx, &meta)),
                "rename" => rename.set(cx, &meta, string(cx, &meta)),
                _ => unknown(cx, &meta, "public", "`skip` or `rename`"),
            }
        }
        let (is_skipped, name) = (skip.get().is_some(), rename.get());
        if is_skipped == name.is_some() && cx.count() == before {
            cx.error(
                attr.path(),
                "write `#[public(skip)]` for a field that clients do not see, or `#[public(rename = \"id\")]` for one that they \
                 see under another name",
            );
        }
        (cx.count() == before).then(|| Public {
            at: attr.path().clone(),
            name,
        })
    }
}

impl FieldIndex {
    fn new(cx: &Ctxt, attr: &Attribute) -> Self {
        let mut unique = Once::new("unique");
        let mut case_insensitive = Once::new("case_insensitive");
        let mut filtered = Once::new("filter");
        let mut named = Once::new("name");
        for (key, meta) in keys(cx, attr) {
            match key.as_str() {
                "unique" => unique.set(cx, &meta, flag(cx, &meta)),
                "case_insensitive" => case_insensitive.set(cx, &meta, flag(cx, &meta)),
                "filter" => filtered.set(cx, &meta, filter(cx, &meta)),
                "name" => named.set(cx, &meta, name(cx, &meta)),
                _ => unknown(
                    cx,
                    &meta,
                    "index",
                    "`unique`, `case_insensitive`, `filter` or `name`",
                ),
            }
        }
        FieldIndex {
            at: attr.path().clone(),
            unique: unique.get().is_some(),
            case_insensitive: case_insensitive.get().is_some(),
            filter: filtered.get(),
            name: named.get(),
        }
    }
}
