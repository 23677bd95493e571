//! The fields that documents of other collections always have a copy of, so that their sources always need a value.

use std::{collections::HashMap, sync::Arc};

use bson::{RawBsonRef, RawDocument};
use odm_mql::path::{Lookup, lookup};

use super::{Along, Catalog, CopyDefinition, FieldDefinition, FromDerived, Relations};
use crate::model::{ValidationAction, ValidationLevel};

/// A field of a source, whose value must not be missing.
#[derive(Debug)]
pub(crate) struct CopiedField {
    /// The path in the source.
    pub(crate) value: String,
    /// The copy, as `collection.path`.
    pub(crate) copy: String,
}

impl CopiedField {
    /// Whether a document has a value that can be copied.
    pub(crate) fn is_in(&self, document: &RawDocument) -> bool {
        match lookup(document, &self.value) {
            Lookup::Value(value) => value != RawBsonRef::Null,
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
            };
            copied.entry(copy.source.clone()).or_default().push(field);
        }
    }
    let copied = copied.into_iter();
    copied
        .map(|(source, fields)| (source, Arc::new(fields)))
        .collect()
}

/// Whether a copy is gone as soon as its source has no value. One in a list of values is left out of it.
fn follows(copy: &CopyDefinition) -> bool {
    !copy.frozen && matches!(copy.along, Along::Local(_))
}

/// The copy, or one of those that are made of it, whose documents cannot be read without a value. The graph has no cycles.
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
