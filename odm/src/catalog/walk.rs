//! The search for what one model relates to, in embedded values at any depth.

use std::{collections::HashMap, ptr};

use super::build::schema;
use crate::{
    error::Result,
    model::{
        Container, CopyShape, CountShape, FieldKind, OnDelete, ReferenceShape, Shape, SplitShape,
        SubsetShape, Via,
    },
};

/// A search for the references of one model, in embedded values at any depth.
pub(super) struct Walk {
    /// The name of the model, or of the half of one, for messages.
    name: &'static str,
    pub(super) references: Vec<Reference>,
    /// The copies, each with the path of the struct that it is in.
    pub(super) copies: Vec<(String, &'static str, CopyShape)>,
    /// The numbers of children, which only a document itself can have.
    pub(super) counts: Vec<(String, CountShape)>,
    /// What is stored at each path.
    leaves: HashMap<String, Leaf>,
    /// The bounded arrays of children, which only a document itself can have.
    pub(super) subsets: Vec<(String, SubsetShape)>,
    /// The halves that are stored apart, which only a document itself can have.
    pub(super) splits: Vec<(String, SplitShape)>,
    /// The innermost list that the search is in.
    list: Option<String>,
    /// The shapes that the search is inside.
    within: Vec<&'static Shape>,
}

/// A reference that was found.
pub(super) struct Reference {
    /// Its path in the document.
    pub(super) path: String,
    /// The path of the innermost list around it, or of itself if it is a list.
    pub(super) list: Option<String>,
    pub(super) shape: ReferenceShape,
}

impl Walk {
    pub(super) fn new(name: &'static str) -> Self {
        Walk {
            name,
            references: Vec::new(),
            copies: Vec::new(),
            counts: Vec::new(),
            list: None,
            leaves: HashMap::new(),
            subsets: Vec::new(),
            splits: Vec::new(),
            within: Vec::new(),
        }
    }

    /// `place` is what stands around the value since the last name in the path.
    pub(super) fn shape(
        &mut self,
        shape: &'static Shape,
        prefix: &str,
        place: Container,
    ) -> Result<()> {
        // An embedded value that holds its own kind has no end of paths.
        if self
            .within
            .iter()
            .any(|outer| ptr::eq(outer.fields, shape.fields))
        {
            if has_reference(shape, &mut Vec::new()) {
                return Err(schema(format!(
                    "`{}` is embedded in itself and holds references, which cannot be followed to \
                     an end; refer to documents of a collection of their own instead",
                    shape.name
                )));
            }
            return Ok(());
        }
        self.within.push(shape);
        for field in shape.fields {
            let path = match (prefix, field.name) {
                (prefix, "") => prefix.to_owned(),
                ("", name) => name.to_owned(),
                (prefix, name) => format!("{prefix}.{name}"),
            };
            let place = if field.name.is_empty() {
                place
            } else {
                Container::One
            };
            match field.kind {
                FieldKind::Plain => {
                    self.leaf(&path, Leaf::Plain)?;
                }
                FieldKind::Embed { shape, container } => {
                    let (shape, place) = (shape(), container.within(place));
                    if has_reference(shape, &mut Vec::new()) {
                        self.reachable(&path, place)?;
                    }
                    let outer = self.list.clone();
                    if container == Container::Many {
                        self.list = Some(path.clone());
                    } else if !field.name.is_empty() {
                        // What is in a field of an element is not the element.
                        self.list = None;
                    }
                    self.shape(shape, &path, place)?;
                    self.list = outer;
                }
                FieldKind::Reference(shape) => {
                    self.reachable(&path, shape.container.within(place))?;
                    if self.leaf(&path, Leaf::of(&shape))? {
                        let list = match shape.container {
                            Container::Many => Some(path.clone()),
                            _ => self.list.clone(),
                        };
                        self.references.push(Reference { path, list, shape });
                    }
                }
                FieldKind::Copy(copy) => {
                    if self.leaf(
                        &path,
                        Leaf::Copy(copy.source, copy.path, copy.via, copy.frozen),
                    )? {
                        self.copies.push((prefix.to_owned(), field.name, copy));
                    }
                }
                FieldKind::Count(count) => {
                    self.leaf(&path, Leaf::Count)?;
                    self.counts.push((path, count));
                }
                FieldKind::Subset(subset) => self.subsets.push((path, subset)),
                FieldKind::Split(split) => self.splits.push((path, split)),
            }
        }
        self.within.pop();
        Ok(())
    }

    /// Refuses references where no path, and so no index, leads.
    fn reachable(&self, path: &str, place: Container) -> Result<()> {
        let what = match place {
            Container::Map => "a map",
            Container::Nested => "a list of lists",
            Container::One | Container::Optional | Container::Many => return Ok(()),
        };
        Err(schema(format!(
            "`{}.{path}` is {what} with references in it, which no index can find; use a list of \
             values that hold them as fields",
            self.name
        )))
    }

    /// Notes what is stored at a path, and tells whether it is new there. Variants of an enum may
    /// share a path if they hold the same at it.
    fn leaf(&mut self, path: &str, held: Leaf) -> Result<bool> {
        match self.leaves.insert(path.to_owned(), held) {
            None => Ok(true),
            Some(other) if other == held => Ok(false),
            Some(_) => Err(schema(format!(
                "`{}.{path}` is stored by several fields, and is not the same reference or copy in all \
                 of them; give one of them another name",
                self.name
            ))),
        }
    }
}

/// What is stored at a path.
#[derive(Clone, Copy, PartialEq)]
enum Leaf {
    Plain,
    /// Where it leads, whether it may lead nowhere, its rule, and its other side.
    Reference(&'static str, bool, Option<OnDelete>, Option<&'static str>),
    /// Of what it is a copy, along which reference, and whether it is frozen.
    Copy(&'static str, &'static str, Via, bool),
    Count,
}

impl Leaf {
    fn of(shape: &ReferenceShape) -> Self {
        Leaf::Reference(
            shape.collection,
            shape.unchecked,
            shape.on_delete,
            shape.inverse,
        )
    }
}

fn has_reference(shape: &'static Shape, seen: &mut Vec<&'static Shape>) -> bool {
    if seen.iter().any(|other| ptr::eq(other.fields, shape.fields)) {
        return false;
    }
    seen.push(shape);
    shape.fields.iter().any(|field| match field.kind {
        FieldKind::Plain
        | FieldKind::Subset(_)
        | FieldKind::Split(_)
        | FieldKind::Copy(_)
        | FieldKind::Count(_) => false,
        FieldKind::Reference(_) => true,
        FieldKind::Embed { shape, .. } => has_reference(shape(), seen),
    })
}
