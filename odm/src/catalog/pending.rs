//! The fields that older documents may not follow yet.

use std::collections::{BTreeSet, HashMap};

use bson::RawBson;

use super::{Catalog, DerivedField, EmptyValue, Relations, graph, without_positions};

/// A pending field whose documents can be read meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct PendingField {
    /// Its path, through lists.
    pub(crate) path: String,
    /// The value that the field reads as in a document that lacks it; `None` if it reads as missing.
    pub(crate) empty: Option<RawBson>,
}

impl Catalog {
    /// The fields that older documents may not follow yet, as `collection.path`.
    pub(crate) fn pending(&self) -> &BTreeSet<String> {
        &self.pending
    }

    /// Whether older documents may not follow the field at this path of a collection yet.
    pub(crate) fn is_pending(&self, collection: &str, path: &str) -> bool {
        !self.pending.is_empty() && self.pending.contains(&format!("{collection}.{path}"))
    }

    /// Whether a pending field of whole documents of a collection is at a path in one, or around it.
    pub(crate) fn is_pending_around(&self, collection: &str, path: &str) -> bool {
        let path = without_positions(path);
        let holds = |holder: &str, path: &str| {
            let mut ends = path
                .match_indices('.')
                .map(|(at, _)| at)
                .chain([path.len()]);
            ends.any(|end| self.is_pending(holder, &path[..end]))
        };
        let mut splits = self.splits_of(collection);
        holds(collection, &path)
            || splits.any(|split| {
                let inside = path.strip_prefix(&*split.path);
                let inside = inside.and_then(|inside| inside.strip_prefix('.'));
                inside.is_some_and(|inside| holds(&split.cold, inside))
            })
    }

    /// The pending fields in documents of a collection that have an empty value.
    pub(crate) fn pending_in(&self, collection: &str) -> &[PendingField] {
        let fields = self.pending_fields.get(collection);
        fields.map_or(&[], Vec::as_slice)
    }

    /// The pending fields without an empty value, and the pending fields that they are computed from.
    pub(crate) fn unreadable_pending(&self) -> BTreeSet<String> {
        unreadable_pending(&self.relations, &self.pending)
    }
}

/// The pending fields without an empty value, and the pending fields that they are computed from: a document that lacks one cannot be read.
pub(super) fn unreadable_pending(
    relations: &Relations,
    pending: &BTreeSet<String>,
) -> BTreeSet<String> {
    let derived = relations.derived.iter();
    let unreadable = derived.filter(|field| matches!(field.empty(), EmptyValue::None));
    let unreadable = unreadable.map(name).filter(|name| pending.contains(name));
    let mut fields: BTreeSet<String> = unreadable.collect();
    graph::close_over_sources(&relations.derived, &mut fields);
    fields.retain(|field| pending.contains(field));
    fields
}

/// The pending fields with an empty value, by collection.
pub(super) fn pending_fields(
    relations: &Relations,
    pending: &BTreeSet<String>,
) -> HashMap<String, Vec<PendingField>> {
    let mut fields: HashMap<String, Vec<PendingField>> = HashMap::new();
    let mut add = |collection: &str, path: String, empty| {
        let of = fields.entry(collection.to_owned()).or_default();
        of.push(PendingField { path, empty });
    };
    for field in &relations.derived {
        if !pending.contains(&name(field)) {
            continue;
        }
        let path = field.path().into_owned();
        match field.empty() {
            EmptyValue::Value(empty) => add(field.holder(), path, Some(empty)),
            EmptyValue::Absent => add(field.holder(), path, None),
            EmptyValue::None => {}
        }
    }
    for version in relations
        .versions()
        .filter(|version| pending.contains(version))
    {
        let holder = relations.holder_of(&version);
        let path = version[holder.len() + 1..].to_owned();
        add(holder, path, Some(RawBson::Int64(0)));
    }
    fields
}

fn name(field: &DerivedField) -> String {
    format!("{}.{}", field.holder(), field.path())
}
