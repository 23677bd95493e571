//! The validators of collections: their stored form, and the parsed form in force.

use std::{collections::BTreeMap, sync::Arc};

use bson::{Bson, Document, RawDocument, RawDocumentBuf, doc};
use odm_mql::{self as mql, Collation, Filter, Schema, Update, Violation};
use odm_store::{CollectionValidator, Error, Result};
use serde::{Deserialize, Serialize};

use super::{Catalog, Split, ValidationRule, read_checks::read_checks_of};
use crate::model::{Check, FieldKind, Model, SplitShape, ValidationAction, ValidationLevel};

/// The declaration of a database about the documents of a collection, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Validator {
    pub(crate) collection: String,
    /// The schema in the form of `$jsonSchema`.
    #[serde(with = "odm_mql::stored_value")]
    pub(crate) schema: Document,
    pub(crate) level: ValidationLevel,
    pub(crate) action: ValidationAction,
}

/// A validator in force.
#[derive(Debug)]
pub(crate) struct ActiveValidator {
    schema: Option<Schema>,
    /// The rule of a collection that no model declares, and its filter unless that is the schema.
    rule: Option<(ValidationRule, Option<Filter>)>,
    check: Option<Check>,
    /// The split, if the value in a cold part is checked.
    split: Option<Split>,
    level: ValidationLevel,
    action: ValidationAction,
}

impl Catalog {
    /// Adds the checks of a program's models, which are functions and not stored.
    pub(super) fn with_checks(mut self, models: &[&'static Model]) -> Self {
        for (collection, check) in checks_of(&self.relations.splits, models) {
            let of = self.validators.entry(collection.to_owned()).or_default();
            Arc::get_mut(of)
                .expect("nobody else has it yet")
                .push(check);
        }
        self.read_checks = read_checks_of(&self.relations.splits, models);
        self
    }

    /// The schemas of all collections, as far as MongoDB's dialect can express them.
    pub(crate) fn validations(&self) -> Vec<CollectionValidator> {
        let mut all: BTreeMap<&str, CollectionValidator> = BTreeMap::new();
        for validator in &self.relations.validators {
            let validation = all
                .entry(&validator.collection)
                .or_insert(CollectionValidator {
                    collection: validator.collection.clone(),
                    schemas: Vec::new(),
                    is_warning: false,
                });
            let mut schema = validator.schema.clone();
            mql::remove_native_forms(&mut schema);
            validation.schemas.push(schema);
            validation.is_warning |= validator.action == ValidationAction::Warn;
        }
        all.into_values().collect()
    }

    /// The validators of the documents of a collection, if there are any.
    pub(crate) fn validators_of(&self, collection: &str) -> Option<Arc<Vec<ActiveValidator>>> {
        self.validators.get(collection).cloned()
    }
}

impl ActiveValidator {
    pub(super) fn new(declared: &Validator) -> Result<Self> {
        Ok(ActiveValidator {
            schema: Some(parse(&declared.collection, &declared.schema)?),
            rule: None,
            check: None,
            split: None,
            level: declared.level,
            action: declared.action,
        })
    }

    /// The validator of a rule, with the default collation of its collection.
    pub(super) fn of_rule(rule: ValidationRule, collation: Option<&Collation>) -> Result<Self> {
        let (schema, filter) = match rule.filter(collation)? {
            Filter::Schema(schema) => (Some(schema), None),
            filter => (None, Some(filter)),
        };
        Ok(ActiveValidator {
            schema,
            check: None,
            split: None,
            level: rule.level,
            action: rule.action,
            rule: Some((rule, filter)),
        })
    }

    /// Whether no model declares it.
    pub(crate) fn is_rule(&self) -> bool {
        self.rule.is_some()
    }

    pub(crate) fn is_warning(&self) -> bool {
        self.action == ValidationAction::Warn
    }

    /// The violations of a document that replaces another, as far as the level requires validation.
    pub(crate) fn violations(
        &self,
        before: Option<&RawDocument>,
        after: &RawDocument,
    ) -> Result<Vec<Violation>> {
        let violations = self.all_violations(after)?;
        let is_excused = self.level == ValidationLevel::Moderate && !violations.is_empty();
        if let Some(before) = before.filter(|_| is_excused)
            && !self.all_violations(before)?.is_empty()
        {
            return Ok(Vec::new());
        }
        Ok(violations)
    }

    /// A filter for documents that conform both before and after an update, except for an invalid `nativeForm` that other programs have
    /// left in a field which the update does not change. `None` if the documents have to be read.
    pub(crate) fn kept_by(&self, update: &Update) -> Option<Filter> {
        // A warning names its document, which therefore has to be read.
        if self.is_warning() || self.check.is_some() || matches!(self.rule, Some((_, Some(_)))) {
            return None;
        }
        let Some(schema) = &self.schema else {
            return Some(Filter::default());
        };
        Some(Filter::Schema(schema.clone()).and(schema.kept_by(update)?))
    }

    /// The violations of a document, at any level.
    pub(crate) fn all_violations(&self, document: &RawDocument) -> Result<Vec<Violation>> {
        let mut violations = match &self.schema {
            Some(schema) => schema.violations(document)?,
            None => Vec::new(),
        };
        match (self.check, &self.split) {
            (Some(check), Some(split)) => check(&split.value(document)?, &mut violations),
            (Some(check), None) => check(document, &mut violations),
            (None, _) => {}
        }
        if let Some((rule, Some(filter))) = &self.rule {
            // A document on which an expression fails does not conform, as in MongoDB.
            let why = match filter.matches(document) {
                Ok(true) => return Ok(violations),
                Ok(false) => format!("must match {}", rule.shown()),
                Err(error) => format!("cannot be matched with {}: {error}", rule.shown()),
            };
            violations.push(Violation::new("", "validator", why));
        }
        Ok(violations)
    }
}

/// Parses the schema of a collection.
///
/// # Errors
///
/// `InvalidQuery` that names the collection.
pub(super) fn parse(collection: &str, schema: &Document) -> Result<Schema> {
    let schema = RawDocumentBuf::try_from(schema).map_err(Error::malformed)?;
    Schema::parse_stored(&schema).map_err(|error| {
        let error = Error::from(error);
        let message = format!("invalid schema of `{collection}`: {error}");
        Error::new(error.kind(), message).with_source(error)
    })
}

/// The validators that a model declares for its collection and for the collections of its cold parts.
pub(super) fn declared_of(model: &Model) -> Vec<Validator> {
    let validation = &model.validation;
    if validation.level == ValidationLevel::Off {
        return Vec::new();
    }
    let validator = |collection: &str, schema: Document| Validator {
        collection: collection.to_owned(),
        schema,
        level: validation.level,
        action: validation.action,
    };
    let mut all = vec![validator(model.collection, (model.schema)())];
    all.extend(
        validation
            .schema
            .map(|schema| validator(model.collection, schema())),
    );
    let splits = splits_in(model);
    all.extend(splits.map(|split| {
        let mut schema = (split.schema)();
        allow(&mut schema, ["_id", split.key]);
        validator(split.collection, schema)
    }));
    all
}

/// Allows further fields, if the schema of a type allows no others than its own.
fn allow(schema: &mut Document, names: [&str; 2]) {
    if schema.get("additionalProperties") == Some(&Bson::Boolean(false)) {
        let properties = schema.entry("properties".to_owned());
        let properties = properties.or_insert(doc! {}.into()).as_document_mut();
        let properties = properties.expect("the derives make it of fields");
        for name in names {
            properties.entry(name.to_owned()).or_insert(doc! {}.into());
        }
    }
    for keyword in ["allOf", "anyOf"] {
        if let Some(Bson::Array(schemas)) = schema.get_mut(keyword) {
            let schemas = schemas.iter_mut().filter_map(Bson::as_document_mut);
            schemas.for_each(|schema| allow(schema, names));
        }
    }
}

/// The cold parts that a model declares.
pub(super) fn splits_in(model: &Model) -> impl Iterator<Item = &'static SplitShape> + use<> {
    let fields = (model.shape)().fields.iter();
    fields.filter_map(|field| match &field.kind {
        FieldKind::Split(split) => Some(split),
        _ => None,
    })
}

/// The checks by functions of models, under the settings of these models, by collection.
fn checks_of(splits: &[Split], models: &[&'static Model]) -> Vec<(&'static str, ActiveValidator)> {
    let mut checks = Vec::new();
    for model in models {
        let validation = &model.validation;
        if validation.level == ValidationLevel::Off {
            continue;
        }
        let mut add = |collection, check: fn() -> Option<Check>, split| {
            checks.extend(check().map(|check| {
                let active = ActiveValidator {
                    schema: None,
                    rule: None,
                    check: Some(check),
                    split,
                    level: validation.level,
                    action: validation.action,
                };
                (collection, active)
            }));
        };
        add(model.collection, validation.check, None);
        for shape in splits_in(model) {
            let split = splits.iter().find(|split| split.cold == shape.collection);
            add(shape.collection, shape.check, split.cloned());
        }
    }
    checks
}
