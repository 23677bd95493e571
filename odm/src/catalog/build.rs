//! From the models' static descriptions to the graph, with the checks that need all of them.

use std::ptr;

use super::{Catalog, Edge, Node, OnDelete};
use crate::{
    error::{Error, ErrorKind, Result},
    model::{Container, FieldKind, Index, Model, ReferenceShape, Shape},
    mql::Direction,
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
            within: Vec::new(),
        };
        walk.shape((model.shape)(), "", Container::One)?;
        let found = walk.found;
        catalog.collections.push(CollectionSpec {
            name: model.collection.to_owned(),
            indexes: indexes(model, &found)?,
        });
        for (path, reference, _) in found {
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
    Ok(catalog)
}

fn schema(message: String) -> Error {
    Error::new(ErrorKind::Schema, message)
}

/// A search for the references of one model, in embedded values at any depth.
struct Walk {
    model: &'static Model,
    /// Each with its full path and the widest container on the way.
    found: Vec<(String, ReferenceShape, Container)>,
    /// The shapes that the search is inside.
    within: Vec<&'static Shape>,
}

impl Walk {
    fn shape(&mut self, shape: &'static Shape, prefix: &str, around: Container) -> Result<()> {
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
            match field.kind {
                FieldKind::Plain => {}
                FieldKind::Embed {
                    shape: inner,
                    container,
                } => {
                    let inner = inner();
                    if container == Container::Map && has_reference(inner, &mut Vec::new()) {
                        return Err(schema(format!(
                            "`{}.{path}` is a map with references in its values, which no index can \
                             find; use a list of values that hold the key as a field",
                            self.model.name
                        )));
                    }
                    self.shape(inner, &path, container.within(around))?;
                }
                FieldKind::Reference(reference) => {
                    self.found
                        .push((path, reference, reference.container.within(around)));
                }
            }
        }
        self.within.pop();
        Ok(())
    }
}

fn has_reference(shape: &'static Shape, seen: &mut Vec<&'static Shape>) -> bool {
    if seen.iter().any(|other| ptr::eq(other.fields, shape.fields)) {
        return false;
    }
    seen.push(shape);
    shape.fields.iter().any(|field| match field.kind {
        FieldKind::Plain => false,
        FieldKind::Reference(_) => true,
        FieldKind::Embed { shape, .. } => has_reference(shape(), seen),
    })
}

fn indexes(
    model: &Model,
    references: &[(String, ReferenceShape, Container)],
) -> Result<Vec<IndexSpec>> {
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
    for (path, reference, container) in references {
        if reference.one {
            let keys = vec![(path.clone(), Direction::Ascending)];
            add(IndexSpec {
                name: name(&keys),
                keys,
                unique: true,
                present_only: *container != Container::One,
            })?;
        }
    }
    for (path, ..) in references {
        // Any index that starts with the reference finds its holders.
        let served = indexes
            .iter()
            .any(|index| index.keys[0].0 == *path && !index.present_only);
        if !served {
            let keys = vec![(path.clone(), Direction::Ascending)];
            let name = name(&keys);
            if !indexes.iter().any(|index| index.name == name) {
                indexes.push(IndexSpec {
                    name,
                    keys,
                    unique: false,
                    present_only: false,
                });
            }
        }
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
