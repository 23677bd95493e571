//! The search for the relations of one model, in embedded values at any depth.

use std::{collections::HashMap, ptr};

use odm_store::Result;

use super::{DerivedField, join, schema};
use crate::model::{Container, FieldKind, FieldShape, OnDelete, ReferenceShape, Shape, SplitShape};

/// A search for the relations of one model, in embedded values at any depth.
pub(super) struct Walk {
    /// The name of the model, or of the type of a cold part, for messages.
    name: &'static str,
    /// The collection that the documents are in.
    collection: String,
    pub(super) references: Vec<FoundReference>,
    pub(super) derived: Vec<DerivedField>,
    /// The fields that are stored in collections of their own, which only a document itself can have.
    pub(super) splits: Vec<(String, SplitShape)>,
    /// The kind of value at each path.
    leaves: HashMap<String, DeclaredLeaf>,
    /// The innermost list that the search is in.
    list: Option<String>,
    /// Whether the value that the search is in shares its place with others: it is flattened, or in one variant of several.
    is_flat: bool,
    /// The shapes that the search is inside.
    within: Vec<&'static Shape>,
}

/// A reference that was found.
pub(super) struct FoundReference {
    /// Its path in the document.
    pub(super) path: String,
    /// The path of the innermost list around it, or of itself if it is a list.
    pub(super) list: Option<String>,
    pub(super) shape: ReferenceShape,
}

impl Walk {
    /// Searches a shape whose values are the documents of a collection.
    pub(super) fn through(
        name: &'static str,
        collection: &str,
        shape: &'static Shape,
    ) -> Result<Self> {
        let mut walk = Walk {
            name,
            collection: collection.to_owned(),
            references: Vec::new(),
            derived: Vec::new(),
            splits: Vec::new(),
            leaves: HashMap::new(),
            list: None,
            is_flat: false,
            within: Vec::new(),
        };
        walk.shape(shape, "", Container::One)?;
        Ok(walk)
    }

    /// `around` is the container of the value since the last name in the path.
    fn shape(&mut self, shape: &'static Shape, prefix: &str, around: Container) -> Result<()> {
        // A recursive embedded value has infinitely many paths.
        if self
            .within
            .iter()
            .any(|outer| ptr::eq(outer.fields, shape.fields))
        {
            if has_relation(shape, &mut Vec::new()) {
                return Err(schema(format!(
                    "recursive embed: `{}` is embedded in itself and holds references or derived fields, which no \
                     path names; refer to documents of a collection of their own instead",
                    shape.name
                )));
            }
            return Ok(());
        }
        self.within.push(shape);
        let is_flat = self.is_flat;
        for field in shape.fields {
            let around = if field.name.is_empty() {
                around
            } else {
                Container::One
            };
            if is_flat
                && let FieldKind::Derived(derived) = field.kind
                && derived.needs_own_place()
            {
                return Err(schema(format!(
                    "computed field without a place of its own: `{}.{}` is in a flattened value, or in a variant that shares its place \
                     with others, so that a document can lack the fields beside it; embed the value under a name of its own",
                    self.name,
                    join(prefix, field.name)
                )));
            }
            let mut others = shape.fields.iter().filter(|other| !ptr::eq(*other, field));
            self.is_flat = field.name.is_empty() || others.any(|other| other.name == field.name);
            self.field(field, prefix, around)?;
        }
        self.is_flat = is_flat;
        self.within.pop();
        Ok(())
    }

    fn field(&mut self, field: &'static FieldShape, prefix: &str, around: Container) -> Result<()> {
        let path = match (prefix, field.name) {
            (prefix, "") => prefix.to_owned(),
            (prefix, name) => join(prefix, name),
        };
        match field.kind {
            FieldKind::Plain => {
                self.leaf(&path, DeclaredLeaf::Plain)?;
            }
            FieldKind::Embed { shape, container } => {
                let (shape, around) = (shape(), container.within(around));
                if has_relation(shape, &mut Vec::new()) {
                    self.reachable(&path, around)?;
                }
                let outer = self.list.clone();
                if container == Container::Many {
                    self.list = Some(path.clone());
                } else if !field.name.is_empty() {
                    // A value in a field of an element is not the element itself.
                    self.list = None;
                }
                self.shape(shape, &path, around)?;
                self.list = outer;
            }
            FieldKind::Reference(shape) => {
                self.reachable(&path, shape.container.within(around))?;
                if self.leaf(&path, DeclaredLeaf::reference(&shape))? {
                    let list = match shape.container {
                        Container::Many => Some(path.clone()),
                        _ => self.list.clone(),
                    };
                    self.references.push(FoundReference { path, list, shape });
                }
            }
            FieldKind::Derived(shape) => {
                let derived =
                    DerivedField::from_shape(&self.collection, prefix, field.name, &shape)?;
                if self.leaf(&path, DeclaredLeaf::Derived(Box::new(derived.clone())))? {
                    self.derived.push(derived);
                }
            }
            FieldKind::Split(split) => self.splits.push((path, split)),
        }
        Ok(())
    }

    /// Refuses references and derived fields that no path reaches.
    fn reachable(&self, path: &str, around: Container) -> Result<()> {
        let what = match around {
            Container::Map => "a map",
            Container::Nested => "a list of lists",
            Container::One | Container::Optional | Container::Many => return Ok(()),
        };
        Err(schema(format!(
            "`{}.{path}` is {what} with references or derived fields in it, which no path names; use a list of values that \
             hold them as fields",
            self.name
        )))
    }

    /// Records the kind of value at a path, and returns whether the path is new. Variants of an enum may share a path if they hold the same
    /// at it.
    fn leaf(&mut self, path: &str, held: DeclaredLeaf) -> Result<bool> {
        match self.leaves.get(path) {
            None => {
                self.leaves.insert(path.to_owned(), held);
                Ok(true)
            }
            Some(other) if *other == held => Ok(false),
            Some(_) => Err(schema(format!(
                "`{}.{path}` is stored by several fields, and is not the same in all of them; give one of them another name",
                self.name
            ))),
        }
    }
}

/// The kind of value at a path.
#[derive(PartialEq)]
enum DeclaredLeaf {
    Plain,
    /// The collection that it names, whether it is unchecked, its rule for deletes, and its inverse.
    Reference(&'static str, bool, Option<OnDelete>, Option<&'static str>),
    Derived(Box<DerivedField>),
}

impl DeclaredLeaf {
    fn reference(shape: &ReferenceShape) -> Self {
        DeclaredLeaf::Reference(
            shape.collection,
            shape.unchecked,
            shape.on_delete,
            shape.inverse,
        )
    }
}

/// Whether there is a reference or a derived field in an embedded value.
fn has_relation(shape: &'static Shape, seen: &mut Vec<&'static Shape>) -> bool {
    if seen.iter().any(|other| ptr::eq(other.fields, shape.fields)) {
        return false;
    }
    seen.push(shape);
    shape.fields.iter().any(|field| match field.kind {
        FieldKind::Plain | FieldKind::Split(_) => false,
        FieldKind::Reference(_) | FieldKind::Derived(_) => true,
        FieldKind::Embed { shape, .. } => has_relation(shape(), seen),
    })
}
