//! The checks of a program's models that stored documents can be read. They are functions and not stored.

use std::collections::HashMap;

use bson::RawDocument;

use super::{Catalog, Split, validators::splits_in};
use crate::{
    error::Result,
    model::{Model, ReadCheck, Unreadable},
};

/// The check that a stored document of one collection can be read as what a model says.
#[derive(Debug)]
pub(crate) struct ModelReadCheck {
    readable: ReadCheck,
    /// The split, where it is the value in a cold part that is read.
    split: Option<Split>,
}

impl Catalog {
    /// The checks that documents of a collection can be read.
    pub(crate) fn read_checks(&self, collection: &str) -> &[ModelReadCheck] {
        self.read_checks.get(collection).map_or(&[], Vec::as_slice)
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
) -> HashMap<String, Vec<ModelReadCheck>> {
    let mut checks: HashMap<String, Vec<ModelReadCheck>> = HashMap::new();
    let mut add = |collection: &str, readable, split| {
        let of = checks.entry(collection.to_owned()).or_default();
        of.push(ModelReadCheck { readable, split });
    };
    for model in models {
        add(model.collection, model.readable, None);
        for shape in splits_in(model) {
            let split = splits.iter().find(|split| split.cold == shape.collection);
            // A newer version of the database may have given it up.
            if let Some(split) = split {
                add(shape.collection, shape.readable, Some(split.clone()));
            }
        }
    }
    checks
}
