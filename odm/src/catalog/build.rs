//! From the models' static descriptions to the graph, with the checks that need all of them.

use super::{
    Along, Cardinality, Collection, Copied, Count, Edge, OnDelete, Relations, Split, Subset,
    copies::{counts_in_order, in_order},
    indexes::{Declared, declared, index_of_subset, index_on, indexes_of, of_half},
    walk::{Reference, Walk},
};
use crate::{
    error::{Error, ErrorKind, Result},
    model::{Container, CopyShape, CountShape, Model, SplitShape, SubsetShape, Via},
    mql::{Filter, Sort},
    store::CollectionSpec,
};

/// What models declare, and the collections and indexes that this needs.
pub(crate) fn declared_by(models: &[&'static Model]) -> Result<(Relations, Vec<CollectionSpec>)> {
    let mut relations = Relations::default();
    for model in models {
        add_collection(&mut relations, model.collection, model.name, model.version)?;
    }
    let mut parts = Vec::new();
    let mut copies = Vec::new();
    for model in models {
        let mut walk = Walk::new(model.name);
        walk.shape((model.shape)(), "", Container::One)?;
        for (path, shape) in walk.subsets {
            relations.subsets.push(subset(model, path, &shape)?);
        }
        for (path, shape) in walk.counts {
            relations.counts.push(count(model, path, &shape)?);
        }
        let collection = model.collection;
        copies.extend(walk.copies.iter().map(|found| copied(collection, found)));
        let mut indexes = declared(model.indexes);
        for (path, shape) in walk.splits {
            let (split, half) = split(&mut relations, model, path, &shape)?;
            let cold = &split.cold;
            copies.extend(half.copies.iter().map(|found| copied(cold, found)));
            let mut indexes = of_half(model, &split, &mut indexes)?;
            if split.key != "_id" {
                indexes.push(Declared::implied(index_on(&split.key)));
            }
            parts.push(Part {
                model: model.name,
                collection: split.cold.clone(),
                references: half.references,
                indexes,
            });
            relations.splits.push(split);
        }
        parts.push(Part {
            model: model.name,
            collection: model.collection.to_owned(),
            references: walk.references,
            indexes,
        });
    }
    for subset in &relations.subsets {
        // The derive has checked that the database has the child.
        let children = parts
            .iter_mut()
            .find(|part| part.collection == subset.child);
        let children = children.ok_or_else(|| {
            schema(format!(
                "`{}` shows the collection `{}`, which the database lacks",
                subset.parent, subset.child
            ))
        })?;
        let index = Declared::implied(index_of_subset(subset));
        if !children.indexes.iter().any(|other| other.serves(&index)) {
            children.indexes.push(index);
        }
    }
    let subsets = relations.subsets.iter();
    let subsets =
        subsets.map(|subset| (&subset.parent, &subset.path, &subset.child, &subset.filter));
    let counts = relations.counts.iter();
    let counts = counts.map(|count| (&count.parent, &count.path, &count.child, &count.filter));
    for (parent, path, child, filter) in subsets.chain(counts) {
        let apart = |asked: &&str| {
            let mut splits = relations.splits.iter();
            splits.any(|split| split.hot == *child && split.inside(asked).is_some())
        };
        if let Some(asked) = filter.paths().into_iter().find(apart) {
            return Err(schema(format!(
                "the filter of `{path}` of `{parent}` asks for `{asked}` of `{child}`, which is stored \
                 apart from it: filter by a field of the document itself"
            )));
        }
    }
    let mut specs = Vec::new();
    for part in parts {
        let indexes = indexes_of(part.model, part.indexes, &part.references)?;
        specs.push(CollectionSpec {
            name: part.collection.clone(),
            indexes,
        });
        for reference in part.references {
            add_edge(&mut relations, &part.collection, reference)?;
        }
    }
    // The derive of the database finds all circles but those through recursive embeds.
    in_order(copies.clone())?;
    counts_in_order(relations.counts.clone())?;
    relations.copies = copies;
    pairs(&relations)?;
    Ok((relations, specs))
}

/// What a model says of one collection: its own, or that of a half.
struct Part {
    model: &'static str,
    collection: String,
    references: Vec<Reference>,
    indexes: Vec<Declared>,
}

fn add_collection(
    relations: &mut Relations,
    name: &str,
    model: &str,
    version: Option<&str>,
) -> Result<()> {
    if let Some(other) = relations
        .collections
        .iter()
        .find(|other| other.name == name)
    {
        return Err(schema(format!(
            "`{}` and `{model}` are both stored in the collection `{name}`",
            other.model
        )));
    }
    relations.collections.push(Collection {
        name: name.to_owned(),
        model: model.to_owned(),
        version: version.map(str::to_owned),
    });
    Ok(())
}

fn add_edge(relations: &mut Relations, from: &str, reference: Reference) -> Result<()> {
    let Reference { path, list, shape } = reference;
    let holds = match shape.container {
        Container::Many => Cardinality::Many,
        Container::Optional => Cardinality::Optional,
        _ => Cardinality::One,
    };
    let rule = match (shape.on_delete, shape.inverse) {
        (Some(rule), _) => rule,
        (None, Some(_)) => match holds {
            Cardinality::Many => OnDelete::Pull,
            Cardinality::Optional => OnDelete::Nullify,
            Cardinality::One => OnDelete::Restrict,
        },
        (None, None) if shape.unchecked => OnDelete::Keep,
        (None, None) => OnDelete::Restrict,
    };
    if rule == OnDelete::Pull && list.is_none() {
        return Err(schema(format!(
            "`{path}` of `{from}` has `on_delete = \"pull\"`, and is in no list that it could be \
             taken out of"
        )));
    }
    let edge = Edge {
        from: from.to_owned(),
        path,
        to: shape.collection.to_owned(),
        holds,
        list,
        unchecked: shape.unchecked,
        on_delete: rule,
        inverse: shape.inverse.map(str::to_owned),
    };
    // The derive has checked that the database has the model.
    if !relations
        .collections
        .iter()
        .any(|other| other.name == edge.to)
    {
        return Err(schema(format!(
            "`{from}` refers to the collection `{}`, which the database lacks",
            edge.to
        )));
    }
    relations.edges.push(edge);
    Ok(())
}

/// A half of a model that is stored apart, with the references in it.
fn split(
    relations: &mut Relations,
    model: &Model,
    path: String,
    declared: &SplitShape,
) -> Result<(Split, Walk)> {
    let shape = (declared.shape)();
    add_collection(relations, declared.collection, shape.name, None)?;
    let names = shape.names();
    if names.contains(&declared.key) {
        let instead = match declared.key {
            "_id" => "remove it there, or give the split another key",
            _ => "remove it there: the library keeps it",
        };
        return Err(schema(format!(
            "`{}.{path}` is stored apart under the key `{}`, which is also a field of `{}`; {instead}",
            model.name, declared.key, shape.name
        )));
    }
    let mut walk = Walk::new(shape.name);
    walk.shape(shape, "", Container::One)?;
    let split = Split {
        hot: model.collection.to_owned(),
        path,
        cold: declared.collection.to_owned(),
        key: declared.key.to_owned(),
        own_id: names.contains(&"_id"),
        optional: declared.optional,
    };
    Ok((split, walk))
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
        shown: shape.shown.map(|shown| {
            let names = shown().names().into_iter();
            names.map(str::to_owned).collect()
        }),
        filter: match shape.filter {
            Some(filter) => filter()?,
            None => Filter::default(),
        },
    })
}

fn count(model: &Model, path: String, shape: &CountShape) -> Result<Count> {
    Ok(Count {
        parent: model.collection.to_owned(),
        path,
        child: shape.collection.to_owned(),
        reference: shape.via.to_owned(),
        filter: match shape.filter {
            Some(filter) => filter()?,
            None => Filter::default(),
        },
    })
}

fn copied(holder: &str, (within, name, shape): &(String, &str, CopyShape)) -> Copied {
    Copied {
        holder: holder.to_owned(),
        within: within.clone(),
        name: (*name).to_owned(),
        source: shape.source.to_owned(),
        value: shape.path.to_owned(),
        along: match shape.via {
            Via::Beside(name) => Along::Beside(name.to_owned()),
            Via::Back(path) => Along::Back(path.to_owned()),
        },
        frozen: shape.frozen,
        optional: shape.optional,
    }
}

/// Both sides of a pair name each other.
fn pairs(relations: &Relations) -> Result<()> {
    for edge in &relations.edges {
        let Some(inverse) = &edge.inverse else {
            continue;
        };
        let mut edges = relations.edges.iter();
        let other = edges.find(|other| other.from == edge.to && other.path == *inverse);
        if other
            .is_none_or(|other| other.to != edge.from || other.inverse.as_ref() != Some(&edge.path))
        {
            return Err(schema(format!(
                "`{}` of `{}` has the inverse `{inverse}` of `{}`, which does not point back",
                edge.path, edge.from, edge.to
            )));
        }
    }
    Ok(())
}

pub(super) fn schema(message: String) -> Error {
    Error::new(ErrorKind::Schema, message)
}
