//! The validators of collections: how they are stored, and how they are in force.

use bson::{Document, RawDocument, RawDocumentBuf};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    model::{Check, FieldKind, Model, ValidationAction, ValidationLevel},
    mql::{Schema, Violation},
};

/// What a database declares of the documents of a collection, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Validator {
    pub(crate) collection: String,
    /// The schema in the form of `$jsonSchema`.
    pub(crate) schema: Document,
    pub(crate) level: ValidationLevel,
    pub(crate) action: ValidationAction,
}

/// A validator in force.
#[derive(Debug)]
pub(crate) struct ActiveValidator {
    schema: Option<Schema>,
    check: Option<Check>,
    level: ValidationLevel,
    action: ValidationAction,
}

impl ActiveValidator {
    pub(super) fn new(declared: &Validator) -> Result<Self> {
        Ok(ActiveValidator {
            schema: Some(parse(&declared.collection, &declared.schema)?),
            check: None,
            level: declared.level,
            action: declared.action,
        })
    }

    pub(crate) fn is_warning(&self) -> bool {
        self.action == ValidationAction::Warn
    }

    /// What a document violates that takes the place of another, as far as the level asks.
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

    /// What a document violates, whatever the level.
    pub(crate) fn all_violations(&self, document: &RawDocument) -> Result<Vec<Violation>> {
        let mut violations = match &self.schema {
            Some(schema) => schema.violations(document)?,
            None => Vec::new(),
        };
        if let Some(check) = self.check {
            check(document, &mut violations);
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
    Schema::parse(&schema).map_err(|error| {
        let error = Error::from(error);
        let message = format!("invalid schema of `{collection}`: {error}");
        Error::new(error.kind(), message).with_source(error)
    })
}

/// What a model declares of the documents of its collection and of those of its cold parts.
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
    let fields = (model.shape)().fields.iter();
    let splits = fields.filter_map(|field| match &field.kind {
        FieldKind::Split(split) => Some(split),
        _ => None,
    });
    all.extend(splits.map(|split| validator(split.collection, (split.schema)())));
    all
}

/// The checks by functions of models, under the settings of these models, by collection.
pub(super) fn checks_of(
    models: &[&'static Model],
) -> impl Iterator<Item = (&'static str, ActiveValidator)> {
    models.iter().filter_map(|model| {
        let validation = &model.validation;
        let is_off = validation.level == ValidationLevel::Off;
        let active = ActiveValidator {
            schema: None,
            check: Some((validation.check)().filter(|_| !is_off)?),
            level: validation.level,
            action: validation.action,
        };
        Some((model.collection, active))
    })
}
