//! The indexes of a collection: the indexes that its model declares, and the indexes for relations.

use std::collections::BTreeSet;

use bson::{Binary, Bson, DateTime, Document, Timestamp, oid::ObjectId, spec::BinarySubtype};
use odm_mql::{Direction, Filter};
use odm_store::{Error, IndexFilter, IndexSpec, Result};

use super::{
    Children, SequenceDefinition, Split, SubsetDefinition, join, schema, walk::FoundReference,
};
use crate::model::Model;

/// An index that a model or a relation declares.
pub(super) struct DeclaredIndex {
    spec: IndexSpec,
    /// Whether the user has named it.
    named: bool,
    /// Whether it includes every document that has its first field.
    complete: bool,
}

impl DeclaredIndex {
    /// An index for a relation.
    pub(super) fn implied(spec: IndexSpec) -> Self {
        DeclaredIndex {
            spec,
            named: false,
            complete: true,
        }
    }

    pub(super) fn is_partial(&self) -> bool {
        self.spec.filter.is_some()
    }

    /// Whether this index makes another superfluous.
    pub(super) fn serves(&self, other: &DeclaredIndex) -> bool {
        self.spec.keys == other.spec.keys && self.finds_all() && !self.spec.present_only
    }

    /// Whether it finds the documents with each value of its first field, in the order of the next fields.
    fn finds_all(&self) -> bool {
        let has_texts = !self.spec.case_insensitive && self.spec.collation.is_none();
        self.complete && has_texts && self.spec.filter.is_none()
    }
}

/// The indexes that a model declares.
pub(super) fn declared(model: &Model) -> Result<Vec<DeclaredIndex>> {
    let declared = model.indexes.iter().map(|index| {
        let keys: Vec<_> = index
            .fields
            .iter()
            .map(|field| {
                let path = match field.key {
                    Some(key) => format!("{}.{key}", field.path),
                    None => field.path.to_owned(),
                };
                (path, field.direction)
            })
            .collect();
        let mut spec = IndexSpec {
            name: String::new(),
            keys,
            unique: index.unique,
            present_only: index.unique && index.fields.iter().any(|field| field.optional),
            case_insensitive: index.case_insensitive,
            collation: None,
            filter: None,
        };
        spec.name = match index.name {
            Some(name) => name.to_owned(),
            None => name(&spec, index.filter.is_some()),
        };
        if let Some(declare) = index.filter {
            let filter = declare().and_then(|filter| IndexFilter::new(&filter));
            spec.filter = Some(filter.map_err(|error| bad_filter(model, &spec, error))?);
        }
        Ok(DeclaredIndex {
            spec,
            named: index.name.is_some(),
            complete: !index.unique || index.fields[1..].iter().all(|field| !field.optional),
        })
    });
    declared.collect()
}

fn bad_filter(model: &Model, index: &IndexSpec, error: Error) -> Error {
    schema(format!(
        "index `{}` of `{}`: {error}",
        index.name, model.name
    ))
    .with_source(error)
}

/// The indexes of a collection: the declared ones, and the indexes that find the holders of a reference or of a list of `_id`s.
pub(super) fn indexes_of(
    model: &str,
    declared: Vec<DeclaredIndex>,
    references: &[FoundReference],
    lists: &[String],
    schema_of_type: &Document,
) -> Result<Vec<IndexSpec>> {
    let mut indexes: Vec<IndexSpec> = Vec::new();
    let mut add = |index: IndexSpec| match indexes.iter().find(|other| other.name == index.name) {
        Some(other) if *other == index => Ok(()),
        Some(_) => Err(schema(format!(
            "`{model}` has two indexes with the name `{}`; give one of them another by `name = \
             \"..\"`",
            index.name
        ))),
        None => {
            indexes.push(index);
            Ok(())
        }
    };
    for index in &declared {
        add(index.spec.clone())?;
    }
    let references = references.iter();
    let references = references.map(|reference| (&reference.path, reference.shape.one));
    for (path, one) in references.chain(lists.iter().map(|path| (path, false))) {
        // Any index that starts with the reference finds its holders, unless it leaves out holders that lack another of its fields, or has
        // an entry for each element of another list.
        let finds = |index: &DeclaredIndex| {
            let paths = || index.spec.keys.iter().map(|(path, _)| path.as_str());
            index.spec.keys[0].0 == *path
                && index.finds_all()
                && has_no_list_beside(schema_of_type, path, paths())
        };
        if !one && declared.iter().any(finds) {
            continue;
        }
        add(IndexSpec {
            unique: one,
            // If the reference is missing, as in another variant of an enum, there is no parent.
            present_only: one,
            ..index_on(path)
        })?;
    }
    Ok(indexes)
}

/// Whether all lists on these paths, in documents of a schema, are on the first path as well.
fn has_no_list_beside<'p>(
    schema: &Document,
    path: &str,
    mut others: impl Iterator<Item = &'p str>,
) -> bool {
    let on_path = lists(schema, path);
    others.all(|other| lists(schema, other).is_subset(&on_path))
}

/// The paths of the lists on a path, including its own if there can be a list. A value that the schema does not describe can be a list.
fn lists(schema: &Document, path: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let parts: Vec<&str> = path.split('.').collect();
    if !add_lists(schema, &parts, 0, &mut found) {
        found.insert(path.to_owned());
    }
    found
}

/// Adds the lists on the rest of a path. Returns whether the schema describes the value at its end.
fn add_lists(schema: &Document, parts: &[&str], at: usize, found: &mut BTreeSet<String>) -> bool {
    let is_array = match schema.get("bsonType") {
        Some(Bson::Array(types)) => types.iter().any(|one| one.as_str() == Some("array")),
        one => one.and_then(Bson::as_str) == Some("array"),
    };
    if is_array {
        found.insert(parts[..at].join("."));
    }
    let is_end = at == parts.len();
    let mut is_known = is_end
        && ["bsonType", "enum"]
            .iter()
            .any(|word| schema.contains_key(word));
    for word in ["allOf", "anyOf"] {
        let schemas = schema.get_array(word).into_iter().flatten();
        for schema in schemas.filter_map(Bson::as_document) {
            is_known |= add_lists(schema, parts, at, found);
        }
    }
    // The elements of a list take no part of the path.
    if let Ok(items) = schema.get_document("items") {
        is_known |= add_lists(items, parts, at, found);
    }
    if !is_end
        && let Ok(properties) = schema.get_document("properties")
        && let Ok(field) = properties.get_document(parts[at])
    {
        is_known |= add_lists(field, parts, at + 1, found);
    }
    is_known
}

/// A plain index of one field.
pub(super) fn index_on(path: &str) -> IndexSpec {
    plain(vec![(path.to_owned(), Direction::Ascending)])
}

/// A plain index, under the name that it has by its fields.
fn plain(keys: Vec<(String, Direction)>) -> IndexSpec {
    let mut spec = IndexSpec {
        name: String::new(),
        keys,
        unique: false,
        present_only: false,
        case_insensitive: false,
        collation: None,
        filter: None,
    };
    spec.name = name(&spec, false);
    spec
}

/// MongoDB's own convention, `a_1_b.c_-1`.
fn name(spec: &IndexSpec, is_partial: bool) -> String {
    let mut parts: Vec<String> = (spec.keys.iter())
        .map(|(path, direction)| match direction {
            Direction::Ascending => format!("{path}_1"),
            Direction::Descending => format!("{path}_-1"),
        })
        .collect();
    // Another index of the same fields requires another name.
    parts.extend((spec.case_insensitive).then(|| "case_insensitive".to_owned()));
    parts.extend(is_partial.then(|| "partial".to_owned()));
    parts.join("_")
}

/// Takes the indexes of a cold part from the indexes of its model.
pub(super) fn cold_indexes(
    model: &Model,
    split: &Split,
    indexes: &mut Vec<DeclaredIndex>,
) -> Result<Vec<DeclaredIndex>> {
    let mut taken = Vec::new();
    for mut index in std::mem::take(indexes) {
        let is_inside = |path: &str| split.inside(path).is_some();
        if !index.spec.keys.iter().any(|(path, _)| is_inside(path)) {
            if let Some(filter) = &index.spec.filter
                && filter.paths().into_iter().any(is_inside)
            {
                return Err(in_two_collections(model, &index.spec));
            }
            indexes.push(index);
            continue;
        }
        let IndexSpec { keys, filter, .. } = &mut index.spec;
        let paths = keys.iter().map(|(path, _)| path.as_str());
        let filtered = filter.iter().flat_map(IndexFilter::paths);
        if paths
            .chain(filtered)
            .any(|path| within(split, path).is_none())
        {
            return Err(in_two_collections(model, &index.spec));
        }
        for (path, _) in keys {
            *path = within(split, path).unwrap_or_default().to_owned();
        }
        if let Some(filter) = filter {
            let change = |path: &str| within(split, path).unwrap_or_default().to_owned().into();
            *filter = filter.with_paths(&change)?;
        }
        if !index.named {
            index.spec.name = name(&index.spec, index.spec.filter.is_some());
        }
        // Puts cold parts with equal keys in the order of the documents' `_id`s.
        if split.key != "_id" && !index.spec.unique && !index.spec.case_insensitive {
            let key = (split.key.clone(), Direction::Ascending);
            index.spec.keys.push(key);
        }
        taken.push(index);
    }
    Ok(taken)
}

/// The path of a field of a cold part, in it.
fn within<'p>(split: &Split, path: &'p str) -> Option<&'p str> {
    split.inside(path).filter(|rest| !rest.is_empty())
}

fn in_two_collections(model: &Model, index: &IndexSpec) -> Error {
    schema(format!(
        "`{}` has an index, `{}`, of fields, or with a filter of fields, that are stored in different collections; give \
         each collection its own",
        model.name, index.name
    ))
}

/// The index in which the children of a parent stand in the order of the subset.
pub(super) fn index_of_subset(subset: &SubsetDefinition) -> IndexSpec {
    let mut keys = vec![(subset.reference.clone(), Direction::Ascending)];
    let sort = subset.sort.keys().iter();
    keys.extend(sort.map(|(path, direction)| (path.clone().into_owned(), *direction)));
    // Entries with equal keys are always in the order of `_id`.
    keys.pop_if(|(path, direction)| path == "_id" && *direction == Direction::Ascending);
    plain(keys)
}

/// The index in which the first child of a parent stands first. If each store can have it by the filter of the children, it has no others:
/// a search for the first would read them.
///
/// `None` if the index on the reference is as good.
pub(super) fn index_of_first(children: &Children, value: Option<&str>) -> Option<IndexSpec> {
    let mut keys = vec![&*children.reference];
    // MongoDB has entries with equal keys in no order.
    keys.extend(value.into_iter().flat_map(|value| [value, "_id"]));
    keys.dedup();
    let keys = keys.into_iter();
    let all = plain(
        keys.map(|path| (path.to_owned(), Direction::Ascending))
            .collect(),
    );
    let filter = match *children.filter == Filter::default() {
        true => None,
        false => IndexFilter::new(&children.filter).ok(),
    };
    // Not all versions of MongoDB agree about null on such a path.
    let is_flat = |filter: &IndexFilter| !filter.paths().iter().any(|path| path.contains('.'));
    let Some(filter) = filter.filter(is_flat) else {
        return value.map(|_| all);
    };
    let field = join(&children.parent, &children.path);
    Some(IndexSpec {
        // Several fields along one reference have different filters.
        name: format!("{}_1_{field}", children.reference),
        filter: Some(filter),
        ..all
    })
}

/// Adds the unique index of the numbers within a parent, in which documents from before the declaration need not be. A declared index of
/// the same fields keeps its name.
pub(super) fn add_sequence(indexes: &mut Vec<DeclaredIndex>, sequence: &SequenceDefinition) {
    let keys = [&sequence.within, &sequence.path].map(|path| (path.clone(), Direction::Ascending));
    let spec = IndexSpec {
        unique: true,
        present_only: true,
        ..plain(keys.into())
    };
    let is_declared = |index: &&mut DeclaredIndex| {
        let declared = IndexSpec {
            name: spec.name.clone(),
            present_only: true,
            ..index.spec.clone()
        };
        declared == spec
    };
    match indexes.iter_mut().find(is_declared) {
        Some(index) => {
            index.spec.present_only = true;
            index.complete = false;
        }
        None => indexes.push(DeclaredIndex {
            complete: false,
            ..DeclaredIndex::implied(spec)
        }),
    }
}

/// The least value of the type that a field has in documents of a schema, if null or NaN may be before it. `None` also if the type is not
/// known, or there are several.
pub(super) fn least_value(schema: &Document, path: &str) -> Option<Bson> {
    let mut types = BTreeSet::new();
    let parts: Vec<&str> = path.split('.').collect();
    let is_required = add_types(schema, &parts, &mut types);
    let has_null = types.remove("null") || !is_required;
    let has_nan = ["double", "decimal", "number"].map(|name| types.contains(name));
    let mut least = types.iter().map(|name| least_of(name));
    let first = least.next()??;
    let is_one = least.all(|other| other.as_ref() == Some(&first));
    (is_one && (has_null || has_nan.contains(&true))).then_some(first)
}

/// Adds the types at a path. Returns whether each document has a value there.
fn add_types(schema: &Document, parts: &[&str], found: &mut BTreeSet<String>) -> bool {
    let mut is_required = match (parts, schema.get("bsonType")) {
        ([], Some(Bson::String(name))) => {
            found.insert(name.clone());
            true
        }
        ([], Some(Bson::Array(names))) => {
            found.extend(names.iter().filter_map(Bson::as_str).map(str::to_owned));
            true
        }
        // The names of an enum.
        ([], _) => {
            let values = schema.get_array("enum").into_iter().flatten();
            let name = |value: &Bson| match value {
                Bson::String(_) => "string",
                Bson::Null => "null",
                _ => "",
            };
            found.extend(values.map(|value| name(value).to_owned()));
            true
        }
        ([name, rest @ ..], _) => {
            let field = schema.get_document("properties");
            let field = field.and_then(|properties| properties.get_document(name));
            let required = schema.get_array("required").into_iter().flatten();
            let mut required = required.filter_map(Bson::as_str);
            field.is_ok_and(|field| add_types(field, rest, found))
                && required.any(|required| required == *name)
        }
    };
    let all = schema.get_array("allOf").into_iter().flatten();
    for schema in all.filter_map(Bson::as_document) {
        is_required |= add_types(schema, parts, found);
    }
    let any = schema.get_array("anyOf").into_iter().flatten();
    for schema in any.filter_map(Bson::as_document) {
        is_required &= add_types(schema, parts, found);
    }
    is_required
}

/// The least value that is compared with values of a type.
fn least_of(name: &str) -> Option<Bson> {
    Some(match name {
        "int" | "long" | "double" | "decimal" | "number" => Bson::Double(f64::NEG_INFINITY),
        "string" => Bson::String(String::new()),
        "date" => Bson::DateTime(DateTime::MIN),
        "bool" => Bson::Boolean(false),
        "objectId" => Bson::ObjectId(ObjectId::from_bytes([0; 12])),
        "timestamp" => Bson::Timestamp(Timestamp {
            time: 0,
            increment: 0,
        }),
        "binData" => Bson::Binary(Binary {
            subtype: BinarySubtype::Generic,
            bytes: Vec::new(),
        }),
        "object" => Bson::Document(Document::new()),
        _ => return None,
    })
}
