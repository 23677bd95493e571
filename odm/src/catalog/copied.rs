//! The fields that documents of other collections always have a copy of, or show in a subset, so that their sources always
//! need a value.

use std::{collections::HashMap, sync::Arc};

use bson::{RawBsonRef, RawDocument};
use odm_mql::path::{Lookup, lookup};

use super::{
    Along, Catalog, CopyDefinition, FieldDefinition, FromDerived, Relations, SubsetDefinition,
    models::StoredModel,
};
use crate::model::{ValidationAction, ValidationLevel};

/// A field of a source, whose value must not be missing.
#[derive(Debug)]
pub(crate) struct CopiedField {
    /// The path in the source.
    pub(crate) value: String,
    /// The copy, or the subset, as `collection.path`.
    pub(crate) copy: String,
    /// Whether it is a subset.
    pub(crate) is_shown: bool,
    /// Whether it can be null.
    pub(crate) takes_null: bool,
}

impl CopiedField {
    /// Whether a document has a value that can be copied.
    pub(crate) fn is_in(&self, document: &RawDocument) -> bool {
        match lookup(document, &self.value) {
            Lookup::Value(value) => self.takes_null || value != RawBsonRef::Null,
            Lookup::Missing => false,
            Lookup::Array(..) => true,
        }
    }
}

impl Catalog {
    /// The fields of documents of a collection that others always have a copy of.
    pub(crate) fn copied_in(&self, collection: &str) -> Option<Arc<Vec<CopiedField>>> {
        self.copied.get(collection).cloned()
    }
}

/// The fields that are always copied, by the collection of their sources.
pub(super) fn copied_fields(relations: &Relations) -> HashMap<String, Arc<Vec<CopiedField>>> {
    let copies = relations.derived.iter();
    let copies: Vec<_> = copies.filter_map(CopyDefinition::from_derived).collect();
    let mut copied: HashMap<String, Vec<CopiedField>> = HashMap::new();
    for copy in &copies {
        if follows(copy)
            && let Some(copy_of) = needed_by(relations, &copies, copy)
        {
            let field = CopiedField {
                value: copy.value.clone(),
                copy: format!("{}.{}", copy_of.holder, copy_of.path()),
                is_shown: false,
                takes_null: false,
            };
            copied.entry(copy.source.clone()).or_default().push(field);
        }
    }
    let copied = copied.into_iter();
    copied
        .map(|(source, fields)| (source, Arc::new(fields)))
        .collect()
}

/// The fields of children without which their parents could not be read, by the models of one database, each with the collection
/// of the children. A subset shows a field as it is in the child. If the validation of children ensures that they can be read themselves,
/// they have all shown fields.
pub(super) fn shown_fields(
    relations: &Relations,
    models: &[StoredModel],
) -> Vec<(String, CopiedField)> {
    let subsets = relations.derived.iter();
    let subsets = subsets.filter_map(SubsetDefinition::from_derived);
    let mut fields = Vec::new();
    for subset in subsets {
        if !is_validated(relations, &subset.parent) || is_validated(relations, &subset.child) {
            continue;
        }
        let model = models.iter().find(|of| of.collection == subset.child);
        for (name, takes_null) in model.into_iter().flat_map(StoredModel::required) {
            let shown = subset.shown.as_ref();
            if shown.is_none_or(|shown| shown.contains(&name)) {
                let field = CopiedField {
                    value: name,
                    copy: format!("{}.{}", subset.parent, subset.path),
                    is_shown: true,
                    takes_null,
                };
                fields.push((subset.child.clone(), field));
            }
        }
    }
    fields
}

/// Whether a copy becomes absent when its source loses its value. A copy in a list of values is then left out of the list.
fn follows(copy: &CopyDefinition) -> bool {
    !copy.frozen && matches!(copy.along, Along::Local(_))
}

/// The copy, or a copy made of it, whose documents cannot be read without a value. The graph has no cycles.
fn needed_by<'c>(
    relations: &Relations,
    copies: &[&'c CopyDefinition],
    copy: &'c CopyDefinition,
) -> Option<&'c CopyDefinition> {
    if !copy.optional && is_validated(relations, &copy.holder) {
        return Some(copy);
    }
    let mut next = copies
        .iter()
        .filter(|next| next.source == copy.holder && next.value == copy.path() && follows(next));
    next.find_map(|next| needed_by(relations, copies, next))
}

/// Whether documents of a collection are validated so that they can be read.
fn is_validated(relations: &Relations, collection: &str) -> bool {
    let mut validators = relations.validators.iter();
    validators.any(|validator| {
        validator.collection == collection
            && validator.level == ValidationLevel::Strict
            && validator.action == ValidationAction::Error
    })
}
