//! Whether the stored documents can be read by the models of a new version.

use bson::{RawBson, RawDocument};

use crate::{
    catalog::{Declaration, FieldChangeKind, Stored, StoredModel, differences},
    error::{Error, ErrorKind, Result, show},
    model::{Model, ReadCheck},
    mql::{Schema, Violation, path},
    store::{Find, Reader},
};

/// How many documents an error names.
const NAMED: usize = 3;

/// Compares the documents of each model that is not only more than it was with its new schema.
///
/// # Errors
///
/// `Schema` that names documents that could not be read.
pub(crate) async fn refuse_unreadable(
    reader: &dyn Reader,
    stored: &Stored,
    declaration: &Declaration,
    models: &[&'static Model],
) -> Result<()> {
    let Some(before) = &stored.models else {
        return Ok(());
    };
    let changes = differences(before, &declaration.models);
    for model in &declaration.models {
        let mut own = changes
            .iter()
            .filter(|change| change.collection == model.collection);
        let can_be_unreadable = own.any(|change| match &change.kind {
            FieldChangeKind::Added { required, .. } => *required,
            FieldChangeKind::Retyped { .. }
            | FieldChangeKind::Required
            | FieldChangeKind::Rules => true,
            FieldChangeKind::Removed | FieldChangeKind::Optional => false,
        });
        if can_be_unreadable {
            let mut models = models.iter();
            let read = models.find(|of| of.collection == model.collection);
            check(reader, model, read.map(|of| of.readable), declaration).await?;
        }
    }
    Ok(())
}

async fn check(
    reader: &dyn Reader,
    model: &StoredModel,
    read: Option<ReadCheck>,
    declaration: &Declaration,
) -> Result<()> {
    let schema = model.parse()?;
    let all = Find {
        collection: model.collection.clone(),
        ..Find::default()
    };
    let (mut number, mut found): (u64, Vec<(RawBson, String)>) = (0, Vec::new());
    let each = &mut |_, document: &RawDocument| {
        if let Some(reason) = unreadable(&schema, read, document)? {
            number += 1;
            if found.len() < NAMED {
                let id = path::get(document, "_id").map_or(RawBson::Null, Into::into);
                found.push((id, reason));
            }
        }
        Ok(std::ops::ControlFlow::Continue(()))
    };
    reader.find(&all, each).await?;
    let Some((first, _)) = found.first() else {
        return Ok(());
    };
    let first = first.clone();
    let texts = found
        .iter()
        .map(|(id, reason)| format!("`_id` = {}: {reason}", show(id)));
    let message = format!(
        "unreadable documents: version {} of `{}` could not read {number} of `{}` ({}{}); nothing has been \
         declared: add a step to its migrations that makes them what the model reads",
        declaration.version,
        declaration.name,
        model.collection,
        texts.collect::<Vec<_>>().join("; "),
        if number > NAMED as u64 { "; .." } else { "" },
    );
    Err(Error::new(ErrorKind::Schema, message).at(&model.collection, None, Some(first)))
}

/// Why a document cannot be read: what it violates is about types, and not only about the values that
/// `#[validate(..)]` allows. A range can be about either, which reading tells. Reading alone would not do: a derived
/// field that is new is not there yet.
fn unreadable(
    schema: &Schema,
    read: Option<ReadCheck>,
    document: &RawDocument,
) -> Result<Option<String>> {
    let violations = schema.violations(document)?;
    let is_of_type = |violation: &&Violation| {
        matches!(
            violation.rule.as_str(),
            "bsonType" | "required" | "additionalProperties" | "anyOf" | "oneOf" | "not"
        )
    };
    let mut first = violations.iter().find(is_of_type);
    if let (None, false, Some(Err(unreadable))) = (
        first,
        violations.is_empty(),
        read.map(|read| read(document)),
    ) {
        first = violations
            .iter()
            .find(|violation| violation.path == unreadable.path);
    }
    Ok(first.map(Violation::to_string))
}
