//! The checks of a program's models that stored documents can be read. They are functions and not stored.
//!
//! A schema can say less than the types that it is made of. There a typed update also reads the document that it leaves, and a raw update
//! does so always, if the program has the model.

use std::{collections::HashMap, sync::Arc};

use bson::{Bson, Document, RawDocument, doc};
use odm_store::Result;

use super::{Catalog, Split, validators::splits_in};
use crate::model::{
    FieldKind, Model, ReadCheck, Unreadable, Validation, ValidationAction, ValidationLevel,
};

/// The check that a stored document of one collection can be read as its model.
#[derive(Debug)]
pub(crate) struct ModelReadCheck {
    readable: ReadCheck,
    /// The split, if the check reads the value in a cold part.
    split: Option<Split>,
    /// Whether the validation of the model refuses all unreadable documents, except ones that only a hand-written `Deserialize` refuses.
    pub(crate) is_validated: bool,
    /// Whether the model has turned validation off, so that raw updates may store anything.
    pub(crate) is_off: bool,
}

impl Catalog {
    /// The checks that documents of a collection can be read.
    pub(crate) fn read_checks(&self, collection: &str) -> &[ModelReadCheck] {
        let checks = self.read_checks.get(collection);
        checks.map_or(&[], |checks| checks.as_slice())
    }

    /// The same, for an update. A typed update stores values of the types, so that it needs none if the validators of the collection ensure
    /// readability; a raw update needs none if validation is off.
    pub(crate) fn update_checks(
        &self,
        collection: &str,
        is_typed: bool,
    ) -> Option<Arc<Vec<ModelReadCheck>>> {
        let checks = self.read_checks.get(collection)?;
        let mut all = checks.iter();
        let is_checked = match is_typed {
            true => all.any(|check| !check.is_validated),
            false => all.any(|check| !check.is_off),
        };
        is_checked.then(|| checks.clone())
    }
}

impl ModelReadCheck {
    /// Why a document cannot be read, if it cannot.
    pub(crate) fn unreadable(&self, document: &RawDocument) -> Result<Option<Box<Unreadable>>> {
        let read = match &self.split {
            None => (self.readable)(document),
            Some(split) => (self.readable)(&split.value(document)?),
        };
        Ok(read.err())
    }
}

/// The checks of models and of their cold parts, by collection.
pub(super) fn read_checks_of(
    splits: &[Split],
    models: &[&'static Model],
) -> HashMap<String, Arc<Vec<ModelReadCheck>>> {
    let mut checks: HashMap<String, Vec<ModelReadCheck>> = HashMap::new();
    let mut add = |collection: &str, check| {
        checks.entry(collection.to_owned()).or_default().push(check);
    };
    for model in models {
        let Validation { level, action, .. } = model.validation;
        let is_strict = level == ValidationLevel::Strict && action == ValidationAction::Error;
        let mut schema = (model.schema)();
        if let Some(Bson::Document(properties)) = schema.get_mut("properties") {
            // A cold part is in its own collection.
            let fields = (model.shape)().fields.iter();
            let split = fields.filter(|field| matches!(field.kind, FieldKind::Split(_)));
            split.for_each(|field| drop(properties.remove(field.name)));
        }
        let check = ModelReadCheck {
            readable: model.readable,
            split: None,
            is_validated: is_strict && is_complete(&schema),
            is_off: level == ValidationLevel::Off,
        };
        add(model.collection, check);
        for shape in splits_in(model) {
            let split = splits.iter().find(|split| split.cold == shape.collection);
            // A newer version of the database may have removed it.
            if let Some(split) = split {
                let check = ModelReadCheck {
                    readable: shape.readable,
                    split: Some(split.clone()),
                    is_validated: is_strict && is_complete(&(shape.schema)()),
                    is_off: level == ValidationLevel::Off,
                };
                add(shape.collection, check);
            }
        }
    }
    let checks = checks.into_iter();
    checks
        .map(|(name, checks)| (name, Arc::new(checks)))
        .collect()
}

/// Whether a generated schema describes a type completely: a recursive type is any object in it, and an unknown type any value.
fn is_complete(schema: &Document) -> bool {
    if schema.is_empty() || *schema == doc! { "bsonType": "object" } {
        return false;
    }
    if *schema == doc! { "bsonType": ["object", "null"] } {
        return false;
    }
    schema
        .iter()
        .all(|(keyword, value)| match (keyword.as_str(), value) {
            ("properties", Bson::Document(all)) => {
                all.values().filter_map(Bson::as_document).all(is_complete)
            }
            ("items" | "additionalProperties", Bson::Document(inner)) => is_complete(inner),
            ("items" | "allOf" | "anyOf", Bson::Array(all)) => {
                all.iter().filter_map(Bson::as_document).all(is_complete)
            }
            _ => true,
        })
}
