//! The static description of a model that the derives emit. The catalog is built of it.

use serde::{Deserialize, Serialize};

use super::PathHash;
use crate::{
    error::Result,
    mql::{self, Direction},
};

/// A model: what a `Document` declares besides its fields.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// The name of the Rust type.
    pub name: &'static str,
    /// The collection.
    pub collection: &'static str,
    /// Its fields.
    pub shape: fn() -> &'static Shape,
    /// Its indexes, besides those that references need.
    pub indexes: &'static [Index],
    /// The stored name of its `#[version]` field.
    pub version: Option<&'static str>,
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
    /// The stored names, those of flattened values among them.
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
}

/// One stored field.
#[derive(Debug, Clone, Copy)]
pub struct FieldShape {
    /// The stored name; empty where the fields of the value are stored in its place (flattened).
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub enum FieldKind {
    /// A value that the library does not look into.
    Plain,
    /// An embedded value, in these containers.
    Embed {
        /// Its fields.
        shape: fn() -> &'static Shape,
        /// What is around it.
        container: Container,
    },
    /// A reference.
    Reference(ReferenceShape),
    /// A bounded array of children.
    Subset(SubsetShape),
    /// A copy of a field of another document.
    Copy(CopyShape),
    /// The number of children.
    Count(CountShape),
    /// A half that is stored apart.
    Split(SplitShape),
}

/// What stands around an embedded value or a reference. Types nest; the widest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// The value itself.
    One,
    /// An `Option`.
    Optional,
    /// A list: `Vec`, `VecDeque`, or a set.
    Many,
    /// A list of lists, into which no path leads.
    Nested,
    /// The values of a map.
    Map,
}

impl Container {
    /// A container of this one within another: the wider of the two.
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
    /// The collection that it leads to.
    pub collection: &'static str,
    /// Whether the holder is the child: `#[reference(parent)]`.
    pub parent: bool,
    /// Whether no two documents may hold the same: `one`.
    pub one: bool,
    /// Whether what it leads to need not exist: `unchecked`.
    pub unchecked: bool,
    /// What is around it.
    pub container: Container,
    /// What a delete of what it leads to does; by default what follows from the rest of the
    /// declaration.
    pub on_delete: Option<OnDelete>,
    /// The stored path of the other side of a pair, in the documents that this leads to.
    pub inverse: Option<&'static str>,
}

/// What happens to the holders of a reference when the document that it leads to is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnDelete {
    /// The delete fails, and says who still refers.
    Restrict,
    /// The holder is deleted too.
    Cascade,
    /// The reference becomes empty.
    Nullify,
    /// The reference, or the element of a list that holds it, is taken out of the list.
    Pull,
    /// The reference stays, and leads nowhere.
    Keep,
}

/// A bounded array of children.
#[derive(Debug, Clone, Copy)]
pub struct SubsetShape {
    /// The collection of the children.
    pub collection: &'static str,
    /// The stored path of the children's reference to the holder.
    pub via: &'static str,
    /// How many; negative for the last ones.
    pub limit: i64,
    /// In which order.
    pub sort: &'static [(&'static str, Direction)],
    /// What is shown of a child; none for all of it.
    pub shown: Option<fn() -> &'static Shape>,
    /// Which children count; all by default.
    pub filter: Option<fn() -> Result<mql::Filter>>,
}

/// A half of a document that is stored in a collection of its own.
#[derive(Debug, Clone, Copy)]
pub struct SplitShape {
    /// The collection of the halves.
    pub collection: &'static str,
    /// The stored name under which a half holds the `_id` of its document.
    pub key: &'static str,
    /// Whether a document need not have a half: `optional`.
    pub optional: bool,
    /// The fields of the half.
    pub shape: fn() -> &'static Shape,
}

/// A copy of a field of another document.
#[derive(Debug, Clone, Copy)]
pub struct CopyShape {
    /// The collection of the document that it is copied from.
    pub source: &'static str,
    /// The stored path of the value there.
    pub path: &'static str,
    /// Along which reference.
    pub via: Via,
    /// It keeps the value of the time of writing: `freeze`.
    pub frozen: bool,
    /// The copy can be absent: it is an `Option`.
    pub optional: bool,
}

/// The reference along which a copy follows its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// The reference with this stored name, in the same struct.
    Beside(&'static str),
    /// Documents of the source whose references at this stored path lead to the holder. The copy is
    /// then an array, of one element for each value.
    Back(&'static str),
}

/// The number of a document's children.
#[derive(Debug, Clone, Copy)]
pub struct CountShape {
    /// The collection of the children.
    pub collection: &'static str,
    /// The stored path of the children's reference to the holder.
    pub via: &'static str,
    /// Which children count; all by default.
    pub filter: Option<fn() -> Result<mql::Filter>>,
}

/// What checks at compile time know of a type and of what is embedded in it. They cannot call
/// [`Structure::shape`](super::Structure::shape).
#[doc(hidden)]
pub struct Outline {
    /// It holds references itself.
    pub references: bool,
    /// Its own copies, with their stored names and the hashes of these.
    pub copies: &'static [(&'static str, u64, Copied)],
    /// Its own subsets, likewise.
    pub subsets: &'static [(&'static str, u64, ShownFields)],
    /// The embedded values, likewise, but not the type within itself. A flattened one has no name.
    pub embedded: &'static [(&'static str, u64, &'static Outline)],
}

/// What a subset reads of its children, besides their references to the parent.
#[doc(hidden)]
pub struct ShownFields {
    /// The hash of the collection of the children.
    pub child: u64,
    /// The paths by which they are sorted.
    pub sort: &'static [PathHash],
    /// The stored names that are shown; `None` for all.
    pub names: Option<&'static ShownNames>,
}

/// The hashes of stored names.
#[doc(hidden)]
pub struct ShownNames {
    /// The type's own names.
    pub own: &'static [u64],
    /// Those of values that are flattened into it.
    pub flattened: &'static [&'static ShownNames],
}

/// A copy, and what is wrong with its declaration.
#[doc(hidden)]
pub struct Copied {
    pub(crate) shape: CopyShape,
    /// The hash of the collection of the source.
    pub(crate) source: u64,
    /// The path of the value in the source.
    pub(crate) value: PathHash,
    pub(crate) problem: Option<&'static str>,
}

impl Outline {
    /// That of a type that the checks need not look into.
    pub const EMPTY: &'static Outline = &Outline {
        references: false,
        copies: &[],
        subsets: &[],
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
    /// No two documents may have the same key.
    pub unique: bool,
}

/// One field of an index.
#[derive(Debug, Clone, Copy)]
pub struct IndexField {
    /// The stored path.
    pub path: &'static str,
    /// The direction.
    pub direction: Direction,
    /// Whether the value can be absent, so that a unique index leaves it out.
    pub optional: bool,
}
