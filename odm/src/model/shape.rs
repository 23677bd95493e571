//! The static description of a model that the derives emit. The catalog is built from it.

use std::time::Duration;

use bson::Document;
use odm_mql::{self as mql, Direction};
use odm_store::Result;
use serde::{Deserialize, Serialize};

use super::{
    Check, IdOfNumber, Operand, PathHash, ReadCheck, Rule, SchemaOf, Validation, any_schema,
    derived::DerivedShape,
};

/// A model: the declarations of a `Document` besides its fields.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// The name of the Rust type.
    pub name: &'static str,
    /// The collection.
    pub collection: &'static str,
    /// Its fields.
    pub shape: fn() -> &'static Shape,
    /// Its indexes, besides the ones for references.
    pub indexes: &'static [Index],
    /// When its documents expire.
    pub expires: Option<Expires>,
    /// Makes a stored `_id` from a number, if the `_id`s are the numbers of a sequence.
    pub id_of_number: Option<IdOfNumber>,
    /// The stored name of its `#[version]` field.
    pub version: Option<&'static str>,
    /// The stored name of its `#[created_at]` field.
    pub created_at: Option<&'static str>,
    /// The stored name of its `#[updated_at]` field.
    pub updated_at: Option<&'static str>,
    /// The schema of its documents, in the form of `$jsonSchema`.
    pub schema: fn() -> Document,
    /// The validation of its documents.
    pub validation: Validation,
    /// The fields that had another name in an older version.
    pub renamed: &'static [Renamed],
    /// Tells whether a document can be read as the model.
    pub readable: ReadCheck,
}

/// When the documents of a model expire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expires {
    /// The stored path of a date.
    pub path: &'static str,
    /// How long after it.
    pub after: Duration,
}

/// A field that had another name in an older version of the model.
#[derive(Debug, Clone, Copy)]
pub struct Renamed {
    /// The old path.
    pub from: &'static str,
    /// The new path.
    pub to: &'static str,
}

/// The fields of a struct, or of one variant of an enum.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The name of the Rust type.
    pub name: &'static str,
    /// Its stored fields, in order. A variant of an enum is a field of kind `Embed` under the
    /// variant's name (externally tagged), under the content's name (adjacently tagged), or without
    /// a name (internally tagged and untagged).
    pub fields: &'static [FieldShape],
}

impl Shape {
    /// The stored names, including the fields of flattened values.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for field in self.fields {
            match field.kind {
                FieldKind::Embed { shape, .. } if field.name.is_empty() => {
                    names.extend(shape().names());
                }
                _ => names.push(field.name),
            }
        }
        names
    }

    /// Whether there can be a reference at a path that the library knows of, or in a derived field.
    pub(crate) fn has_reference(&self, path: &[String]) -> bool {
        let Some((first, rest)) = path.split_first() else {
            return false;
        };
        self.fields.iter().any(|field| match field.kind {
            FieldKind::Embed { shape, .. } if field.name.is_empty() => shape().has_reference(path),
            _ if field.name != first => false,
            FieldKind::Plain => false,
            FieldKind::Reference(_) => rest.is_empty(),
            FieldKind::Derived(_) => true,
            // A map contains no references.
            FieldKind::Embed { shape, .. } => shape().has_reference(rest),
            FieldKind::Split(split) => (split.shape)().has_reference(rest),
        })
    }
}

/// One stored field.
#[derive(Debug, Clone, Copy)]
pub struct FieldShape {
    /// The stored name; empty if the fields of the value are stored in its place (flattened).
    pub name: &'static str,
    /// Its content.
    pub kind: FieldKind,
    /// The properties of its type, with operands if a request can name it.
    pub described: Described,
    /// The name that clients see; `None` if it is hidden.
    pub public: Option<&'static str>,
    /// The fields of the embedded value that it copies, and its container.
    pub copied: Option<Inner>,
    /// Whether every document has it.
    pub required: bool,
    /// The rules of `#[validate(..)]`.
    pub rules: &'static [Rule],
}

/// The properties of a type that the description of a field states.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Described {
    /// The values that a request can compare a field of the type with.
    pub operand: Option<Operand>,
    /// The schema of its values.
    pub schema: SchemaOf,
}

impl Described {
    /// A type of which nothing is known.
    pub const UNKNOWN: Self = Described {
        operand: None,
        schema: any_schema,
    };
}

impl FieldShape {
    /// A field that no request names.
    pub const fn new(name: &'static str, kind: FieldKind) -> Self {
        FieldShape {
            name,
            kind,
            described: Described::UNKNOWN,
            public: Some(name),
            copied: None,
            required: false,
            rules: &[],
        }
    }

    /// The field, as a copy of a value that may be embedded.
    pub const fn copied(mut self, inner: Option<Inner>) -> Self {
        self.copied = inner;
        self
    }

    /// The values with fields in it.
    pub(crate) fn inner(&self) -> Option<Inner> {
        let (shape, container) = match self.kind {
            FieldKind::Embed { shape, container } => (shape, container),
            FieldKind::Split(split) => (split.shape, Container::One),
            FieldKind::Derived(derived) => return derived.inner(self.copied),
            FieldKind::Plain | FieldKind::Reference(_) => return None,
        };
        Some(Inner { shape, container })
    }

    /// The field, hidden from clients.
    pub const fn hidden(mut self) -> Self {
        self.public = None;
        self
    }
}

/// The values with fields in a field.
#[derive(Debug, Clone, Copy)]
pub struct Inner {
    /// Their fields.
    pub shape: fn() -> &'static Shape,
    /// Their container.
    pub container: Container,
}

/// The content of a field.
#[derive(Debug, Clone, Copy)]
pub enum FieldKind {
    /// A value that the library does not look into.
    Plain,
    /// An embedded value, in these containers.
    Embed {
        /// Its fields.
        shape: fn() -> &'static Shape,
        /// Its container.
        container: Container,
    },
    /// A reference.
    Reference(ReferenceShape),
    /// A derived field.
    Derived(DerivedShape),
    /// The cold part of a split document.
    Split(SplitShape),
}

/// The containers around an embedded value or a reference. Types nest; the widest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// The value itself.
    One,
    /// An `Option`.
    Optional,
    /// A list: `Vec`, `VecDeque`, or a set.
    Many,
    /// A list of lists, through which no path goes.
    Nested,
    /// The values of a map.
    Map,
}

impl Container {
    /// The container of this one within another: the wider of the two.
    pub(crate) const fn within(self, outer: Container) -> Container {
        match (self, outer) {
            (Container::Many, Container::Many) => Container::Nested,
            (inner, outer) if inner as u8 > outer as u8 => inner,
            (_, outer) => outer,
        }
    }
}

/// A reference to another model.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceShape {
    /// The referenced collection.
    pub collection: &'static str,
    /// Whether the holder is the child: `#[reference(parent)]`.
    pub parent: bool,
    /// Whether the reference is unique: `one`.
    pub one: bool,
    /// Whether it may dangle: `unchecked`.
    pub unchecked: bool,
    /// Its container.
    pub container: Container,
    /// The effect of deleting the referenced document; by default it follows from the rest of the
    /// declaration.
    pub on_delete: Option<OnDelete>,
    /// The stored path of the inverse reference in the referenced documents.
    pub inverse: Option<&'static str>,
}

/// The effect of deleting a document on the holders of references to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnDelete {
    /// The delete fails, and the error names a referrer.
    Restrict,
    /// The holder is deleted too.
    Cascade,
    /// The reference becomes empty.
    Nullify,
    /// The reference, or the element of a list that holds it, is taken out of the list.
    Pull,
    /// The reference stays, and dangles.
    Keep,
}

/// The cold part of a split document, in a collection of its own.
#[derive(Debug, Clone, Copy)]
pub struct SplitShape {
    /// The collection of the cold parts.
    pub collection: &'static str,
    /// The stored name of the `_id` of the document in its cold part.
    pub key: &'static str,
    /// Whether a document need not have one: `optional`.
    pub optional: bool,
    /// The fields of the cold part.
    pub shape: fn() -> &'static Shape,
    /// The schema of the cold part.
    pub schema: fn() -> Document,
    /// The check of the cold part by functions of the user's, if there are any.
    pub check: fn() -> Option<Check>,
    /// Tells whether a stored cold part can be read.
    pub readable: ReadCheck,
}

/// The derived fields of a type and of the values embedded in it, for checks at compile time. They cannot call
/// [`Structure::shape`](super::Structure::shape).
#[doc(hidden)]
pub struct Outline {
    /// Whether it holds references itself.
    pub references: bool,
    /// Whether it holds values itself that the library does not look into.
    pub opaque: bool,
    /// Its own derived fields that may follow from others, with their stored names and the hashes of
    /// these.
    pub derived: &'static [(&'static str, u64, DerivedReads)],
    /// The embedded values, likewise, without the type itself if it is recursive. A flattened one has no name.
    pub embedded: &'static [(&'static str, u64, &'static Outline)],
}

/// The fields that a derived field reads, besides references.
#[doc(hidden)]
pub struct DerivedReads {
    /// The hash of the collection of the documents.
    pub collection: u64,
    /// The paths in them.
    pub paths: &'static [PathHash],
    /// The stored names that it reads besides; `None` for all.
    pub names: Option<&'static ShownNames>,
}

/// The name of a stored field.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct StoredName {
    /// The name.
    pub text: &'static str,
    /// Its hash.
    pub hash: u64,
    /// Whether the field can be missing in a stored value.
    pub optional: bool,
    /// Whether serde has a default for it.
    pub defaulted: bool,
}

/// Stored names.
#[doc(hidden)]
pub struct ShownNames {
    /// The type's own names.
    pub own: &'static [StoredName],
    /// The names of values that are flattened into it.
    pub flattened: &'static [&'static ShownNames],
}

impl ShownNames {
    /// No names.
    pub const NONE: &'static ShownNames = &ShownNames {
        own: &[],
        flattened: &[],
    };
}

impl Outline {
    /// Whether there are values in it that the library does not look into.
    pub(crate) const fn holds_opaque(&self) -> bool {
        let mut found = self.opaque;
        let mut i = 0;
        while !found && i < self.embedded.len() {
            found = self.embedded[i].2.holds_opaque();
            i += 1;
        }
        found
    }

    /// The outline of a type that needs no checks.
    pub const EMPTY: &'static Outline = &Outline {
        references: false,
        opaque: false,
        derived: &[],
        embedded: &[],
    };
}

/// A declared index.
#[derive(Debug, Clone, Copy)]
pub struct Index {
    /// Its name, if one was given.
    pub name: Option<&'static str>,
    /// Its fields, in order.
    pub fields: &'static [IndexField],
    /// Whether no two documents may have the same key.
    pub unique: bool,
    /// Whether texts that differ only in case are one key.
    pub case_insensitive: bool,
    /// The filter that the documents in it match.
    pub filter: Option<fn() -> Result<mql::Filter>>,
}

/// One field of an index.
#[derive(Debug, Clone, Copy)]
pub struct IndexField {
    /// The stored path.
    pub path: &'static str,
    /// The key of the entry, if the field is a map.
    pub key: Option<&'static str>,
    /// The direction.
    pub direction: Direction,
    /// Whether the value can be absent, so that a unique index leaves it out.
    pub optional: bool,
}
