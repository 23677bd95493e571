//! The indexes of a collection: those that its model declares, and those that relations need.

use super::{Split, SubsetDefinition, schema, walk::FoundReference};
use crate::{
    error::Result,
    model::{Index, Model},
    mql::Direction,
    store::IndexSpec,
};

/// An index that a model or a relation declares.
pub(super) struct DeclaredIndex {
    spec: IndexSpec,
    /// By the user.
    named: bool,
    /// It leaves out no document that has its first field.
    complete: bool,
}

impl DeclaredIndex {
    /// One that a relation needs.
    pub(super) fn implied(spec: IndexSpec) -> Self {
        DeclaredIndex {
            spec,
            named: false,
            complete: true,
        }
    }

    /// Whether this index makes another superfluous.
    pub(super) fn serves(&self, other: &DeclaredIndex) -> bool {
        self.spec.keys == other.spec.keys && self.finds_all() && !self.spec.present_only
    }

    /// Whether the documents with each value of its first field are found by it, in the order of the next ones.
    fn finds_all(&self) -> bool {
        self.complete && !self.spec.case_insensitive
    }
}

pub(super) fn declared(indexes: &[Index]) -> Vec<DeclaredIndex> {
    let declared = indexes.iter().map(|index| {
        let keys: Vec<_> = index
            .fields
            .iter()
            .map(|field| (field.path.to_owned(), field.direction))
            .collect();
        let spec = IndexSpec {
            name: index
                .name
                .map_or_else(|| name(&keys, index.case_insensitive), str::to_owned),
            keys,
            unique: index.unique,
            present_only: index.unique && index.fields.iter().any(|field| field.optional),
            case_insensitive: index.case_insensitive,
        };
        DeclaredIndex {
            spec,
            named: index.name.is_some(),
            complete: !index.unique || index.fields[1..].iter().all(|field| !field.optional),
        }
    });
    declared.collect()
}

/// The indexes of a collection: the declared ones, and those that find the holders of a reference.
pub(super) fn indexes_of(
    model: &str,
    declared: Vec<DeclaredIndex>,
    references: &[FoundReference],
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
    for FoundReference { path, shape, .. } in references {
        // Any index that starts with the reference finds its holders, unless it leaves out those
        // that lack another of its fields.
        let finds = |index: &DeclaredIndex| index.spec.keys[0].0 == *path && index.finds_all();
        if !shape.one && declared.iter().any(finds) {
            continue;
        }
        add(IndexSpec {
            unique: shape.one,
            // Where it is missing, as in another variant of an enum, there is no parent.
            present_only: shape.one,
            ..index_on(path)
        })?;
    }
    Ok(indexes)
}

/// A plain index of one field.
pub(super) fn index_on(path: &str) -> IndexSpec {
    let keys = vec![(path.to_owned(), Direction::Ascending)];
    IndexSpec {
        name: name(&keys, false),
        keys,
        unique: false,
        present_only: false,
        case_insensitive: false,
    }
}

/// MongoDB's own convention, `a_1_b.c_-1`.
fn name(keys: &[(String, Direction)], case_insensitive: bool) -> String {
    let mut parts: Vec<String> = keys
        .iter()
        .map(|(path, direction)| match direction {
            Direction::Ascending => format!("{path}_1"),
            Direction::Descending => format!("{path}_-1"),
        })
        .collect();
    // Beside another one of these fields, it has another name.
    parts.extend(case_insensitive.then(|| "case_insensitive".to_owned()));
    parts.join("_")
}

/// Takes the indexes of a cold part from those of its model.
pub(super) fn cold_indexes(
    model: &Model,
    split: &Split,
    indexes: &mut Vec<DeclaredIndex>,
) -> Result<Vec<DeclaredIndex>> {
    let mut taken = Vec::new();
    for mut index in std::mem::take(indexes) {
        let inside = |(path, _): &(String, Direction)| split.inside(path).is_some();
        if !index.spec.keys.iter().any(inside) {
            indexes.push(index);
            continue;
        }
        for (path, _) in &mut index.spec.keys {
            *path = match split.inside(path) {
                Some(inside) if !inside.is_empty() => inside.to_owned(),
                _ => {
                    return Err(schema(format!(
                        "`{}` has an index, `{}`, of fields that are stored in different \
                         collections; give each collection its own",
                        model.name, index.spec.name
                    )));
                }
            };
        }
        if !index.named {
            index.spec.name = name(&index.spec.keys, index.spec.case_insensitive);
        }
        // So that cold parts with equal keys are in the order of the documents' `_id`s.
        if split.key != "_id" && !index.spec.unique && !index.spec.case_insensitive {
            let key = (split.key.clone(), Direction::Ascending);
            index.spec.keys.push(key);
        }
        taken.push(index);
    }
    Ok(taken)
}

/// The index in which the children of a parent stand in the order of the subset.
pub(super) fn index_of_subset(subset: &SubsetDefinition) -> IndexSpec {
    let mut keys = vec![(subset.reference.clone(), Direction::Ascending)];
    let sort = subset.sort.keys().iter();
    keys.extend(sort.map(|(path, direction)| (path.clone().into_owned(), *direction)));
    // Entries of equal keys stand in the order of `_id` anyway.
    keys.pop_if(|(path, direction)| path == "_id" && *direction == Direction::Ascending);
    IndexSpec {
        name: name(&keys, false),
        keys,
        unique: false,
        present_only: false,
        case_insensitive: false,
    }
}
