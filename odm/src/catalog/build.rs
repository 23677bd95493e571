//! Builds the relations, and the collections and indexes for them, from the models' static descriptions.

use std::collections::BTreeSet;

use bson::Document;
use odm_store::{CollectionSpec, Result};

use super::{
    Cardinality, Catalog, DeclaredCollection, DerivedField, Edge, ExtremeDefinition, FromDerived,
    OnDelete, Relations, SequenceDefinition, Split, SubsetDefinition, counters,
    indexes::{
        DeclaredIndex, add_sequence, cold_indexes, declared, index_of_first, index_of_subset,
        index_on, indexes_of, least_value,
    },
    models::StoredModel,
    outbox, schema,
    validators::{declared_of, splits_in},
    walk::{FoundReference, Walk},
};
use crate::model::{Container, Model, SplitShape};

/// The declarations of a version of a database on a store.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declaration {
    /// The name of the database.
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) relations: Relations,
    /// The collections and indexes that it needs.
    pub(crate) specs: Vec<CollectionSpec>,
    /// The fields of its models.
    pub(crate) models: Vec<StoredModel>,
}

impl Declaration {
    /// Returns the declarations of a version of a database with these models.
    ///
    /// # Errors
    ///
    /// `Schema` if the models do not fit together.
    pub(crate) fn new(name: &str, version: u32, models: &[&'static Model]) -> Result<Self> {
        let (relations, specs) = declared_by(models)?;
        let stored = models.iter().flat_map(|model| {
            let own = StoredModel::new(model.collection, (model.schema)());
            let parts = splits_in(model);
            let parts = parts.map(|part| StoredModel::new(part.collection, (part.schema)()));
            [own].into_iter().chain(parts)
        });
        Ok(Declaration {
            name: name.to_owned(),
            version,
            relations,
            specs,
            models: stored.collect(),
        })
    }
}

/// Returns the relations that models declare, and the collections and indexes for them.
///
/// # Errors
///
/// `Schema` if the models do not fit together.
pub(crate) fn declared_by(models: &[&'static Model]) -> Result<(Relations, Vec<CollectionSpec>)> {
    let mut relations = Relations::default();
    for model in models {
        add_collection(&mut relations, DeclaredCollection::of(model))?;
    }
    let mut parts = Vec::new();
    for model in models {
        add_model(&mut relations, &mut parts, model)?;
    }
    for subset in relations
        .derived
        .iter()
        .filter_map(SubsetDefinition::from_derived)
    {
        add_index_of_subset(&mut parts, subset)?;
    }
    for field in &mut relations.derived {
        add_index_of_first(&mut parts, field);
    }
    let mut has_counters = false;
    for sequence in relations
        .derived
        .iter()
        .filter_map(SequenceDefinition::from_derived)
    {
        has_counters = true;
        add_index_of_sequence(&mut parts, sequence);
    }
    let mut specs = Vec::new();
    for part in parts {
        let schema = (part.schema)();
        let lists = named_lists(&relations, &part);
        let indexes = indexes_of(part.model, part.indexes, &part.references, &lists, &schema)?;
        specs.push(CollectionSpec {
            name: part.collection.clone(),
            indexes,
            ..CollectionSpec::default()
        });
        for reference in part.references {
            add_edge(&mut relations, &part.collection, reference)?;
        }
    }
    if !relations.deferred().is_empty() {
        specs.push(outbox::spec());
    }
    if has_counters {
        specs.push(counters::spec());
    }
    // Runs the checks that need all models.
    Catalog::new(relations.clone(), Default::default(), 0)?;
    Ok((relations, specs))
}

/// The declarations of a model about one collection: its own, or the collection of a cold part.
struct CollectionPart {
    model: &'static str,
    collection: String,
    references: Vec<FoundReference>,
    indexes: Vec<DeclaredIndex>,
    /// The schema of its documents.
    schema: fn() -> Document,
}

/// The lists of ancestors in documents of a collection, and the copies of such lists by which other documents find them.
fn named_lists(relations: &Relations, part: &CollectionPart) -> Vec<String> {
    let lists = relations.derived.iter().filter_map(|field| match field {
        DerivedField::Ancestors(_) => Some((field.holder(), field.path())),
        _ => {
            let reference = field
                .reference()
                .filter(|reference| reference.is_in_source)?;
            Some((field.source(), reference.path))
        }
    });
    let lists = lists.filter(|(collection, path)| {
        let mut references = part.references.iter();
        *collection == part.collection && references.all(|reference| reference.path != **path)
    });
    let lists: BTreeSet<String> = lists.map(|(_, path)| path.into_owned()).collect();
    lists.into_iter().collect()
}

fn add_model(
    relations: &mut Relations,
    parts: &mut Vec<CollectionPart>,
    model: &'static Model,
) -> Result<()> {
    relations.validators.extend(declared_of(model));
    let walk = Walk::through(model.name, model.collection, (model.shape)())?;
    relations.derived.extend(walk.derived);
    let mut indexes = declared(model)?;
    for (path, shape) in walk.splits {
        let (split, cold) = add_split(relations, model, path, &shape)?;
        relations.derived.extend(cold.derived);
        let mut indexes = cold_indexes(model, &split, &mut indexes)?;
        if split.key != "_id" {
            indexes.push(DeclaredIndex::implied(index_on(&split.key)));
        }
        parts.push(CollectionPart {
            model: model.name,
            collection: split.cold.clone(),
            references: cold.references,
            indexes,
            schema: shape.schema,
        });
        relations.splits.push(split);
    }
    parts.push(CollectionPart {
        model: model.name,
        collection: model.collection.to_owned(),
        references: walk.references,
        indexes,
        schema: model.schema,
    });
    Ok(())
}

fn add_index_of_subset(parts: &mut [CollectionPart], subset: &SubsetDefinition) -> Result<()> {
    // The derive has checked that the database has the child.
    let children = parts
        .iter_mut()
        .find(|part| part.collection == subset.child);
    let children = children.ok_or_else(|| {
        schema(format!(
            "missing collection: the subset `{}.{}` shows `{}`, which the database lacks; add a \
             repository for it",
            subset.parent, subset.path, subset.child
        ))
    })?;
    let index = DeclaredIndex::implied(index_of_subset(subset));
    if !children.indexes.iter().any(|other| other.serves(&index)) {
        children.indexes.push(index);
    }
    Ok(())
}

/// Adds the index of a field that follows from the first child. An extreme gets the least value of its type.
fn add_index_of_first(parts: &mut [CollectionPart], field: &mut DerivedField) {
    let source = field.source().to_owned();
    let children = parts.iter_mut().find(|part| part.collection == source);
    let Some(part) = children else { return };
    let index = match field {
        DerivedField::Exists(exists) => index_of_first(&exists.0, None),
        DerivedField::Max(ExtremeDefinition {
            children,
            value,
            least,
        })
        | DerivedField::Min(ExtremeDefinition {
            children,
            value,
            least,
        }) => {
            *least = least_value(&(part.schema)(), value);
            index_of_first(children, Some(value))
        }
        _ => None,
    };
    let index = index.map(DeclaredIndex::implied);
    let is_new = |index: &DeclaredIndex| {
        index.is_partial() || !part.indexes.iter().any(|other| other.serves(index))
    };
    part.indexes.extend(index.filter(is_new));
}

/// Adds the unique index of the numbers within a parent.
fn add_index_of_sequence(parts: &mut [CollectionPart], sequence: &SequenceDefinition) {
    let part = parts
        .iter_mut()
        .find(|part| part.collection == sequence.holder);
    if let Some(part) = part {
        add_sequence(&mut part.indexes, sequence);
    }
}

fn add_collection(relations: &mut Relations, declared: DeclaredCollection) -> Result<()> {
    let mut others = relations.collections.iter();
    if let Some(other) = others.find(|other| other.name == declared.name) {
        return Err(schema(format!(
            "`{}` and `{}` are both stored in the collection `{}`",
            other.model, declared.model, declared.name
        )));
    }
    relations.collections.push(declared);
    Ok(())
}

fn add_edge(relations: &mut Relations, from: &str, reference: FoundReference) -> Result<()> {
    let FoundReference { path, list, shape } = reference;
    let cardinality = match shape.container {
        Container::Many => Cardinality::Many,
        Container::Optional => Cardinality::Optional,
        _ => Cardinality::One,
    };
    let rule = match (shape.on_delete, shape.inverse) {
        (Some(rule), _) => rule,
        (None, Some(_)) => match cardinality {
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
        cardinality,
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

/// Adds the collection of a cold part, and searches its relations.
fn add_split(
    relations: &mut Relations,
    model: &Model,
    path: String,
    declared: &SplitShape,
) -> Result<(Split, Walk)> {
    let shape = (declared.shape)();
    add_collection(
        relations,
        DeclaredCollection::new(declared.collection, shape.name),
    )?;
    let names = shape.names();
    if names.contains(&declared.key) {
        let instead = match declared.key {
            "_id" => "remove it there, or give the split another key",
            _ => "remove it there: the library writes it",
        };
        return Err(schema(format!(
            "duplicate field: the key `{1}` of the cold part `{0}.{path}` is also a field of `{2}`; {instead}",
            model.name, declared.key, shape.name
        )));
    }
    let walk = Walk::through(shape.name, declared.collection, shape)?;
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
