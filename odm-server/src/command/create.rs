//! `create` and `collMod`: collections with their options, and views.

use odm::{
    bson::{Document, RawArray, RawArrayBuf, RawDocument, RawDocumentBuf, raw::cstr, rawdoc},
    collections::{CollectionInfo, ValidationRule, View},
    model::{ValidationAction, ValidationLevel},
    mql::{Collation, Pipeline, Variables},
    store::contract::CommitTime,
};

use super::{Access, Command, Context, aggregate, namespace};
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

/// The validation that a command states for a collection.
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
    let view = ViewOptions::take(context, &mut arguments)?;
    arguments.refuse_true("capped")?;
    arguments.refuse_true("temp")?;
    for name in [
        "size",
        "max",
        "timeseries",
        "clusteredIndex",
        "expireAfterSeconds",
        "encryptedFields",
        "storageEngine",
        "indexOptionDefaults",
        "idIndex",
    ] {
        arguments.refuse(name)?;
    }
    take_images(&mut arguments)?;
    arguments.ignore("autoIndexId");
    arguments.end()?;
    if namespace::exists(context.writable()?, collection.name()).await? {
        return Err(exists(context, collection.name()));
    }
    match (view.on, validation.rule(None), collation) {
        (Some(_), Some(_), _) => {
            let message = "option not supported on a view: validator";
            return Err(CommandError::new(code::INVALID_OPTIONS, message));
        }
        (Some(on), None, collation) => {
            let mut made = View::new(on, view.pipeline.unwrap_or_default());
            made.collation = collation;
            check_sources(context, &made)?;
            collection.create_view(made).await?;
        }
        (None, ..) if view.pipeline.is_some() => {
            let message = "'pipeline' requires 'viewOn' to also be specified";
            return Err(CommandError::new(code::INVALID_OPTIONS, message));
        }
        (None, Some(rule), collation) => collection.create_validated(rule, collation).await?,
        (None, None, Some(collation)) => collection.create_collated(collation).await?,
        (None, None, None) => collection.create().await?,
    }
    // An empty collection is no change that has a time. In MongoDB it has, so that a stream from the time of the reply begins after a drop
    // of the collection before.
    CommitTime::next();
    Ok(rawdoc! {})
}

/// Takes whether change streams are to have the images of documents, which they have anyway.
fn take_images(arguments: &mut Arguments<'_>) -> Result<()> {
    if let Some(mut images) = arguments.nested("changeStreamPreAndPostImages")? {
        images.required::<bool>("enabled")?;
        images.end()?;
    }
    Ok(())
}

/// The view that a command states.
struct ViewOptions {
    on: Option<String>,
    pipeline: Option<Vec<Document>>,
}

impl ViewOptions {
    fn take(context: Context<'_>, arguments: &mut Arguments<'_>) -> Result<Self> {
        let on = arguments.optional::<&str>("viewOn")?;
        if on == Some("") {
            let message = "'viewOn' cannot be empty";
            return Err(CommandError::new(code::BAD_VALUE, message));
        }
        if let Some(on) = on {
            namespace::check(context, on)?;
        }
        let pipeline = arguments.optional::<&RawArray>("pipeline")?;
        Ok(ViewOptions {
            on: on.map(str::to_owned),
            pipeline: pipeline.map(aggregate::stages).transpose()?,
        })
    }
}

/// Checks that the user may read the collections that a view reads: who may read the view needs no right to them.
fn check_sources(context: Context<'_>, view: &View) -> Result<()> {
    let pipeline = Pipeline::parse(&view.pipeline, &Variables::default())?;
    for read in pipeline.sources().into_iter().chain([&*view.on]) {
        namespace::check(context, read)?;
        context.check_read("create", read)?;
    }
    Ok(())
}

fn exists(context: Context<'_>, name: &str) -> CommandError {
    let message = format!("Collection {}.{name} already exists.", context.database);
    CommandError::new(code::NAMESPACE_EXISTS, message)
}

async fn modify(context: Context<'_>, mut arguments: Arguments<'_>) -> Result<RawDocumentBuf> {
    let collection = namespace::take_writable(context, &mut arguments, "collMod")?;
    let validation = Validation::take(&mut arguments)?;
    let view = ViewOptions::take(context, &mut arguments)?;
    for name in [
        "index",
        "cappedSize",
        "cappedMax",
        "timeseries",
        "expireAfterSeconds",
    ] {
        arguments.refuse(name)?;
    }
    take_images(&mut arguments)?;
    arguments.end()?;
    if !namespace::exists(context.writable()?, collection.name()).await? {
        return Err(namespace::missing(context, collection.name()));
    }
    let not_for = |option: &str, what: &str| {
        let message = format!("option {what}: {option}");
        Err(CommandError::new(code::INVALID_OPTIONS, message))
    };
    if let Some(mut changed) = collection.view().await? {
        if validation.rule(None).is_some() {
            return not_for("validator", "not supported on a view");
        }
        changed.on = view.on.unwrap_or(changed.on);
        changed.pipeline = view.pipeline.unwrap_or(changed.pipeline);
        check_sources(context, &changed)?;
        collection.replace_view(changed).await?;
        return Ok(rawdoc! {});
    }
    if view.on.is_some() || view.pipeline.is_some() {
        return not_for("viewOn", "only supported on a view");
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
    append_collation(&mut options, collection.collation.as_ref())?;
    Ok(options)
}

fn append_collation(options: &mut RawDocumentBuf, collation: Option<&Collation>) -> Result<()> {
    if let Some(collation) = collation {
        let collation = RawDocumentBuf::try_from(&collation.to_document())?;
        options.append(cstr!("collation"), collation);
    }
    Ok(())
}

/// A view, as `listCollections` shows it.
pub(super) fn listed_view(name: &str, view: &View) -> Result<RawDocumentBuf> {
    let mut stages = RawArrayBuf::new();
    for stage in &view.pipeline {
        stages.push(RawDocumentBuf::try_from(stage)?);
    }
    let mut options = rawdoc! { "viewOn": view.on.as_str(), "pipeline": stages };
    append_collation(&mut options, view.collation.as_ref())?;
    Ok(rawdoc! {
        "name": name,
        "type": "view",
        "options": options,
        "info": { "readOnly": true },
    })
}
