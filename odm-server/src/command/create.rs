//! `create` and `collMod`: collections with their options.

use odm::{
    bson::{RawDocument, RawDocumentBuf, raw::cstr, rawdoc},
    collections::{CollectionInfo, ValidationRule},
    model::{ValidationAction, ValidationLevel},
};

use super::{Access, Command, Context, namespace};
use crate::{
    arguments::Arguments,
    error::{CommandError, Result, code},
};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("create", Access::Write, |context, arguments| {
        Box::pin(create(context, arguments))
    }),
    Command::new("collMod", Access::Write, |context, arguments| {
        Box::pin(modify(context, arguments))
    }),
];

/// The values of `validationLevel`.
const LEVELS: [(&str, ValidationLevel); 3] = [
    ("off", ValidationLevel::Off),
    ("moderate", ValidationLevel::Moderate),
    ("strict", ValidationLevel::Strict),
];

/// The values of `validationAction`.
const ACTIONS: [(&str, ValidationAction); 2] = [
    ("error", ValidationAction::Error),
    ("warn", ValidationAction::Warn),
];

/// What a command says about the documents of a collection.
struct Validation {
    validator: Option<RawDocumentBuf>,
    level: Option<ValidationLevel>,
    action: Option<ValidationAction>,
}

impl Validation {
    fn take(arguments: &mut Arguments<'_>) -> Result<Self> {
        let validator = arguments.optional::<&RawDocument>("validator")?;
        Ok(Validation {
            validator: validator.map(RawDocument::to_owned),
            level: take_value(arguments, "validationLevel", &LEVELS)?,
            action: take_value(arguments, "validationAction", &ACTIONS)?,
        })
    }

    /// The rule that a collection gets in the place of another one. `None` if the command says nothing about it.
    fn rule(self, before: Option<ValidationRule>) -> Option<ValidationRule> {
        if self.validator.is_none() && self.level.is_none() && self.action.is_none() {
            return None;
        }
        let mut rule = before.unwrap_or_else(|| ValidationRule::new(RawDocumentBuf::new()));
        if let Some(validator) = self.validator {
            rule.validator = validator;
        }
        rule.level = self.level.unwrap_or(rule.level);
        rule.action = self.action.unwrap_or(rule.action);
        Some(rule)
    }
}

/// Takes one of these values by its name.
fn take_value<T: Copy>(
    arguments: &mut Arguments<'_>,
    field: &str,
    values: &[(&str, T)],
) -> Result<Option<T>> {
    let Some(name) = arguments.optional::<&str>(field)? else {
        return Ok(None);
    };
    if let Some((_, value)) = values.iter().find(|(value, _)| *value == name) {
        return Ok(Some(*value));
    }
    let path = format!("{}.{field}", arguments.name());
    // MongoDB 8.1 has it.
    if name == "errorAndLog" {
        let message = format!("'errorAndLog' of '{path}' is not supported by this server");
        return Err(CommandError::new(code::NOT_IMPLEMENTED, message));
    }
    let message = format!("Enumeration value '{name}' for field '{path}' is not a valid value.");
    Err(CommandError::new(code::BAD_VALUE, message))
}

async fn create(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let collection = namespace::take_writable(context, &mut arguments, "create")?;
    arguments.take_collation()?;
    let collation = arguments.collation().cloned();
    let validation = Validation::take(&mut arguments)?;
    arguments.refuse_true("capped")?;
    arguments.refuse_true("temp")?;
    for name in [
        "size",
        "max",
        "viewOn",
        "pipeline",
        "timeseries",
        "clusteredIndex",
        "expireAfterSeconds",
        "encryptedFields",
        "changeStreamPreAndPostImages",
        "storageEngine",
        "indexOptionDefaults",
        "idIndex",
    ] {
        arguments.refuse(name)?;
    }
    arguments.ignore("autoIndexId");
    arguments.end()?;
    if namespace::exists(context.writable()?, collection.name()).await? {
        return Err(exists(context, collection.name()));
    }
    match (validation.rule(None), collation) {
        (Some(rule), collation) => collection.create_validated(rule, collation).await?,
        (None, Some(collation)) => collection.create_collated(collation).await?,
        (None, None) => collection.create().await?,
    }
    Ok(rawdoc! {})
}

fn exists(context: Context<'_>, name: &str) -> CommandError {
    let message = format!("Collection {}.{name} already exists.", context.database);
    CommandError::new(code::NAMESPACE_EXISTS, message)
}

async fn modify(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let collection = namespace::take_writable(context, &mut arguments, "collMod")?;
    let validation = Validation::take(&mut arguments)?;
    for name in [
        "index",
        "viewOn",
        "pipeline",
        "cappedSize",
        "cappedMax",
        "timeseries",
        "expireAfterSeconds",
        "changeStreamPreAndPostImages",
    ] {
        arguments.refuse(name)?;
    }
    arguments.end()?;
    if !namespace::exists(context.writable()?, collection.name()).await? {
        return Err(namespace::missing(context, collection.name()));
    }
    if let Some(rule) = validation.rule(collection.validation().await?) {
        collection.set_validation(Some(rule)).await?;
    }
    Ok(rawdoc! {})
}

/// The options of a collection, as `listCollections` shows them.
pub(super) fn options(collection: &CollectionInfo) -> Result<RawDocumentBuf> {
    let mut options = RawDocumentBuf::new();
    if let Some(rule) = &collection.validation {
        if !rule.validator.is_empty() {
            options.append(cstr!("validator"), &*rule.validator);
        }
        if let Some((level, _)) = LEVELS.iter().find(|(_, level)| *level == rule.level) {
            options.append(cstr!("validationLevel"), *level);
        }
        if let Some((action, _)) = ACTIONS.iter().find(|(_, action)| *action == rule.action) {
            options.append(cstr!("validationAction"), *action);
        }
    }
    if let Some(collation) = &collection.collation {
        let collation = RawDocumentBuf::try_from(&collation.to_document())?;
        options.append(cstr!("collation"), collation);
    }
    Ok(options)
}
