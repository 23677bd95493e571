//! From the models' static descriptions to the graph, with the checks that need all of them.

use std::{collections::HashMap, ptr};

use super::{Catalog, Edge, Node, OnDelete, Subset};
use crate::{
    error::{Error, ErrorKind, Result},
    model::{Container, FieldKind, Index, Model, ReferenceShape, Shape, SubsetShape},
    mql::{Direction, Filter, Sort},
    store::{CollectionSpec, IndexSpec},
};

pub(super) fn catalog(models: &[&'static Model]) -> Result<Catalog> {
    let mut catalog = Catalog::default();
    for model in models {
        let node = Node {
            model: model.name,
            version: model.version,
            ..Node::default()
        };
        if let Some(other) = catalog.nodes.insert(model.collection.to_owned(), node) {
            return Err(schema(format!(
                "`{}` and `{}` are both stored in the collection `{}`",
                other.model, model.name, model.collection
            )));
        }
    }
    for model in models {
        let mut walk = Walk {
            model,
            found: Vec::new(),
            leaves: HashMap::new(),
            subsets: Vec::new(),
            within: Vec::new(),
        };
        walk.shape((model.shape)(), "", Container::One)?;
        let found = walk.found;
        for (path, shape) in walk.subsets {
            catalog.subsets.push(subset(model, path, &shape)?);
        }
        catalog.collections.push(CollectionSpec {
            name: model.collection.to_owned(),
            indexes: indexes(model, &found)?,
        });
        for (path, reference) in found {
            let id = catalog.edges.len();
            let edge = Edge {
                from: model.collection.to_owned(),
                path,
                to: reference.collection.to_owned(),
                unchecked: reference.unchecked,
                on_delete: if reference.unchecked {
                    OnDelete::Keep
                } else {
                    OnDelete::Restrict
                },
            };
            for (collection, ends) in [(&edge.from, true), (&edge.to, false)] {
                // The derive has checked that the database has the model.
                let node = catalog.nodes.get_mut(collection).ok_or_else(|| {
                    schema(format!(
                        "`{}` refers to the collection `{collection}`, which the database lacks",
                        model.name
                    ))
                })?;
                if ends {
                    node.out.push(id)
                } else {
                    node.into.push(id)
                }
            }
            catalog.edges.push(edge);
        }
    }
    for subset in &catalog.subsets {
        // The derive has checked that the database has the child.
        let children = catalog
            .collections
            .iter_mut()
            .find(|spec| spec.name == subset.child);
        let children = children.ok_or_else(|| {
            schema(format!(
                "`{}` shows the collection `{}`, which the database lacks",
                subset.parent, subset.child
            ))
        })?;
        let index = index_of_subset(subset);
        if !children
            .indexes
            .iter()
            .any(|other| other.keys == index.keys)
        {
            children.indexes.push(index);
        }
    }
    Ok(catalog)
}

fn subset(model: &Model, path: String, shape: &SubsetShape) -> Result<Subset> {
    let sort = shape
        .sort
        .iter()
        .fold(Sort::new(), |sort, &(path, direction)| {
            sort.by(path, direction)
        });
    Ok(Subset {
        parent: model.collection.to_owned(),
        path,
        child: shape.collection.to_owned(),
        reference: shape.via.to_owned(),
        sort: sort.total(),
        limit: shape.limit,
        shown: shape.shown.map(|shown| shown().names()),
        filter: match shape.filter {
            Some(filter) => filter()?,
            None => Filter::default(),
        },
    })
}

/// The index in which the children of a parent stand in the order of the subset.
fn index_of_subset(subset: &Subset) -> IndexSpec {
    let mut keys = vec![(subset.reference.clone(), Direction::Ascending)];
    let sort = subset.sort.keys().iter();
    keys.extend(sort.map(|(path, direction)| (path.clone().into_owned(), *direction)));
    // Entries of equal keys stand in the order of `_id` anyway.
    keys.pop_if(|(path, direction)| path == "_id" && *direction == Direction::Ascending);
    IndexSpec {
        name: name(&keys),
        keys,
        unique: false,
        present_only: false,
    }
}

fn schema(message: String) -> Error {
    Error::new(ErrorKind::Schema, message)
}

/// A search for the references of one model, in embedded values at any depth.
struct Walk {
    model: &'static Model,
    /// Each with its full path.
    found: Vec<(String, ReferenceShape)>,
    /// What is stored at each path: a plain value, or a reference to a collection, which may be
    /// unchecked.
    leaves: HashMap<String, Option<(&'static str, bool)>>,
    /// The bounded arrays of children, which only a document itself can have.
    subsets: Vec<(String, SubsetShape)>,
    /// The shapes that the search is inside.
    within: Vec<&'static Shape>,
}

impl Walk {
    /// `place` is what stands around the value since the last name in the path.
    fn shape(&mut self, shape: &'static Shape, prefix: &str, place: Container) -> Result<()> {
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
                    self.leaf(&path, None)?;
                }
                FieldKind::Embed { shape, container } => {
                    let (shape, place) = (shape(), container.within(place));
                    if has_reference(shape, &mut Vec::new()) {
                        self.reachable(&path, place)?;
                    }
                    self.shape(shape, &path, place)?;
                }
                FieldKind::Reference(reference) => {
                    self.reachable(&path, reference.container.within(place))?;
                    if self.leaf(&path, Some(reference))? {
                        self.found.push((path, reference));
                    }
                }
                FieldKind::Subset(subset) => self.subsets.push((path, subset)),
                FieldKind::Copy(_) | FieldKind::Count(_) => {
                    self.leaf(&path, None)?;
                }
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
            self.model.name
        )))
    }

    /// Notes what is stored at a path, and tells whether it is new there. Variants of an enum may
    /// share a path if they hold the same at it.
    fn leaf(&mut self, path: &str, reference: Option<ReferenceShape>) -> Result<bool> {
        let held = reference.map(|reference| (reference.collection, reference.unchecked));
        match self.leaves.insert(path.to_owned(), held) {
            None => Ok(true),
            Some(other) if other == held => Ok(false),
            Some(_) => Err(schema(format!(
                "`{}.{path}` is stored by several fields, and is not the same reference in all of \
                 them; give one of them another name",
                self.model.name
            ))),
        }
    }
}

fn has_reference(shape: &'static Shape, seen: &mut Vec<&'static Shape>) -> bool {
    if seen.iter().any(|other| ptr::eq(other.fields, shape.fields)) {
        return false;
    }
    seen.push(shape);
    shape.fields.iter().any(|field| match field.kind {
        FieldKind::Plain | FieldKind::Subset(_) | FieldKind::Copy(_) | FieldKind::Count(_) => false,
        FieldKind::Reference(_) => true,
        FieldKind::Embed { shape, .. } => has_reference(shape(), seen),
    })
}

fn indexes(model: &Model, references: &[(String, ReferenceShape)]) -> Result<Vec<IndexSpec>> {
    let mut indexes: Vec<IndexSpec> = Vec::new();
    let mut add = |index: IndexSpec| match indexes.iter().find(|other| other.name == index.name) {
        Some(other) if *other == index => Ok(()),
        Some(_) => Err(schema(format!(
            "`{}` has two indexes with the name `{}`; give one of them another by `name = \"..\"`",
            model.name, index.name
        ))),
        None => {
            indexes.push(index);
            Ok(())
        }
    };
    for index in model.indexes {
        add(declared(index))?;
    }
    for (path, reference) in references {
        // Any index that starts with the reference finds its holders, unless it leaves out those
        // that lack another of its fields.
        let declared = |index: &Index| {
            let complete = !index.unique || index.fields[1..].iter().all(|field| !field.optional);
            index.fields[0].path == path && complete
        };
        if !reference.one && model.indexes.iter().any(declared) {
            continue;
        }
        let keys = vec![(path.clone(), Direction::Ascending)];
        add(IndexSpec {
            name: name(&keys),
            keys,
            unique: reference.one,
            // Where it is missing, as in another variant of an enum, there is no parent.
            present_only: reference.one,
        })?;
    }
    Ok(indexes)
}

fn declared(index: &Index) -> IndexSpec {
    let keys: Vec<_> = index
        .fields
        .iter()
        .map(|field| (field.path.to_owned(), field.direction))
        .collect();
    IndexSpec {
        name: index.name.map_or_else(|| name(&keys), str::to_owned),
        keys,
        unique: index.unique,
        present_only: index.unique && index.fields.iter().any(|field| field.optional),
    }
}

/// MongoDB's own convention, `a_1_b.c_-1`.
fn name(keys: &[(String, Direction)]) -> String {
    let parts: Vec<String> = keys
        .iter()
        .map(|(path, direction)| match direction {
            Direction::Ascending => format!("{path}_1"),
            Direction::Descending => format!("{path}_-1"),
        })
        .collect();
    parts.join("_")
}
