//! Validation of the documents that a write names, as they will be stored.
//!
//! A document is validated once, after its derived fields are refreshed, by the validator of each database that declares one for
//! its collection. A document that only a refresh or an effect changes is not validated: the rename of a part must not fail
//! because of an old product.

use std::sync::Arc;

use bson::{RawBson, RawDocument};
use odm_mql::{Filter, Update, Violation};
use odm_store::{DocumentCheck, Error, ErrorKind, Result, show};

use super::{
    Problem, as_read,
    unit::{Unit, id},
};
use crate::catalog::{ActiveValidator, Catalog, CopiedField, ModelReadCheck};

/// The check of the documents of a unit's statement, which the store runs.
pub(super) fn check_in(unit: &Unit<'_>, collection: &str, kind: LeftBy) -> Option<DocumentCheck> {
    documents_check(unit.catalog, collection, kind, unit.bypasses_rule)
}

/// The check of a statement's documents by all that is declared about them.
pub(super) fn check_of(catalog: &Catalog, collection: &str, kind: LeftBy) -> Option<DocumentCheck> {
    documents_check(catalog, collection, kind, false)
}

fn documents_check(
    catalog: &Catalog,
    collection: &str,
    kind: LeftBy,
    bypasses_rule: bool,
) -> Option<DocumentCheck> {
    let validators = catalog.validators_of(collection);
    let reads = read_checks_of(catalog, collection, kind);
    let copied = catalog.copied_in(collection);
    let copied = copied.filter(|_| kind != LeftBy::Import);
    if validators.is_none() && reads.is_none() && copied.is_none() {
        return None;
    }
    let collection = collection.to_owned();
    Some(DocumentCheck::new(move |before, after| {
        if let Some(validators) = &validators {
            let of_models = |of: &&ActiveValidator| !(bypasses_rule && of.is_rule());
            let validators = validators.iter().filter(of_models);
            validate(validators, &collection, before, after)?;
        }
        for field in copied.iter().flat_map(|copied| copied.iter()) {
            refuse_uncopied(field, &collection, before, after)?;
        }
        match &reads {
            Some(reads) => refuse_unreadable(reads, &collection, kind, before, after),
            None => Ok(()),
        }
    }))
}

/// The write that leaves a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeftBy {
    /// The document is sent, and its writer has read it as its type.
    Sent,
    /// An update by typed fields.
    TypedUpdate,
    /// An update by untyped paths.
    RawUpdate,
    /// The document was stored elsewhere before.
    Import,
}

impl LeftBy {
    pub(super) fn update(is_typed: bool) -> Self {
        if is_typed {
            LeftBy::TypedUpdate
        } else {
            LeftBy::RawUpdate
        }
    }
}

/// Refuses a document that lacks a value which copies or subsets in other documents need: these documents could not be read. A
/// document that lacked the value before is left alone.
fn refuse_uncopied(
    field: &CopiedField,
    collection: &str,
    before: Option<&RawDocument>,
    after: &RawDocument,
) -> Result<()> {
    if field.is_in(after) || before.is_some_and(|before| !field.is_in(before)) {
        return Ok(());
    }
    let id = RawBson::from(id(after));
    let CopiedField { value, copy, .. } = field;
    let needed = if field.is_shown {
        format!(
            "which the elements of the subset `{copy}` need: give it a value, or make it an `Option` in both"
        )
    } else {
        format!(
            "of which `{copy}` is a copy that is always there: give it a value, or make the copy an `Option`"
        )
    };
    let message = format!(
        "invalid document: `{collection}` with `_id` = {} has no `{value}`, {needed}",
        show(&id)
    );
    Err(Error::new(ErrorKind::Invalid, message).at(collection, Some(&field.value), Some(id)))
}

/// A filter for an update: documents that match it pass the [check](check_of) after the update. `None` if each document has to be
/// checked.
pub(super) fn kept_by(
    catalog: &Catalog,
    collection: &str,
    update: &Update,
    is_typed: bool,
) -> Option<Filter> {
    if read_checks_of(catalog, collection, LeftBy::update(is_typed)).is_some() {
        return None;
    }
    let validators = catalog.validators_of(collection);
    let mut validators = validators.iter().flat_map(|validators| validators.iter());
    validators.try_fold(Filter::default(), |all, validator| {
        Some(all.and(validator.kept_by(update)?))
    })
}

/// The read checks for the documents of an update, where validation does not ensure that models can read them.
fn read_checks_of(
    catalog: &Catalog,
    collection: &str,
    kind: LeftBy,
) -> Option<Arc<Vec<ModelReadCheck>>> {
    match kind {
        LeftBy::Sent | LeftBy::Import => None,
        LeftBy::TypedUpdate => catalog.update_checks(collection, true),
        LeftBy::RawUpdate => catalog.update_checks(collection, false),
    }
}

/// MongoDB's code of a document that does not conform to the validator of its collection.
const DOCUMENT_VALIDATION_FAILURE: i32 = 121;

/// Refuses an update that leaves a document unreadable. A document that was unreadable before is left alone.
fn refuse_unreadable(
    checks: &[ModelReadCheck],
    collection: &str,
    kind: LeftBy,
    before: Option<&RawDocument>,
    after: &RawDocument,
) -> Result<()> {
    let asks = |check: &&ModelReadCheck| match kind {
        LeftBy::RawUpdate => !check.is_off,
        _ => !check.is_validated,
    };
    for check in checks.iter().filter(asks) {
        let Some(why) = check.unreadable(after)? else {
            continue;
        };
        if let Some(before) = before
            && check.unreadable(before)?.is_some()
        {
            continue;
        }
        let id = RawBson::from(id(after));
        let message = format!(
            "update of `{collection}` with `_id` = {} would leave a document that its model cannot read: {why}",
            show(&id)
        );
        return Err(Error::new(ErrorKind::InvalidUpdate, message)
            .at(collection, why.path(), Some(id))
            .with_source(why.source)
            .with_code(DOCUMENT_VALIDATION_FAILURE));
    }
    Ok(())
}

/// Validates documents that do not change any more, and the cold parts that the unit has changed.
pub(super) fn check(
    unit: &Unit<'_>,
    collection: &str,
    positions: &[usize],
    kind: LeftBy,
) -> Result<()> {
    check_positions(unit, collection, positions, kind)?;
    for split in unit.catalog.splits_of(collection) {
        let images = unit.images(&split.cold);
        let changed = images.changed().filter(|(_, image)| image.is_base());
        let changed: Vec<usize> = changed.map(|(at, _)| at).collect();
        check_positions(unit, &split.cold, &changed, kind)?;
    }
    Ok(())
}

fn check_positions(
    unit: &Unit<'_>,
    collection: &str,
    positions: &[usize],
    kind: LeftBy,
) -> Result<()> {
    let check = check_in(unit, collection, kind);
    let Some(check) = check else {
        return Ok(());
    };
    let images = unit.images(collection);
    for &at in positions {
        let image = images.at(at);
        if let Some(after) = image.now() {
            let before = image.before();
            let before = before.map(|before| as_read(unit.catalog, collection, before));
            let before = before.transpose()?;
            let after = as_read(unit.catalog, collection, after)?;
            check.run(before.as_deref(), &after)?;
        }
    }
    Ok(())
}

/// All violations of a stored document, whatever the level of validation.
pub(super) fn problems(
    catalog: &Catalog,
    collection: &str,
    document: &RawDocument,
) -> Vec<Problem> {
    let validators = catalog.validators_of(collection);
    let validators = validators.iter().flat_map(|validators| validators.iter());
    let problems = validators.flat_map(|validator| match validator.all_violations(document) {
        Ok(violations) => violations.into_iter().map(Problem::Invalid).collect(),
        Err(error) => vec![Problem::CheckFailed(error.to_string())],
    });
    problems.collect()
}

fn validate<'v>(
    validators: impl Iterator<Item = &'v ActiveValidator>,
    collection: &str,
    before: Option<&RawDocument>,
    after: &RawDocument,
) -> Result<()> {
    for validator in validators {
        let violations = validator.violations(before, after)?;
        if violations.is_empty() {
            continue;
        }
        if validator.is_warning() {
            tracing::warn!(
                target: "odm",
                collection,
                id = show(&id(after).into()),
                violations = %listed(&violations),
                "invalid document stored: the action of its validation is `warn`"
            );
        } else {
            return Err(invalid(validator, collection, id(after).into(), violations));
        }
    }
    Ok(())
}

fn listed(violations: &[Violation]) -> String {
    let texts: Vec<String> = violations.iter().map(Violation::to_string).collect();
    texts.join("; ")
}

/// The error of a rule that no model declares begins as MongoDB's does, since programs look at it.
fn invalid(
    validator: &ActiveValidator,
    collection: &str,
    id: RawBson,
    violations: Vec<Violation>,
) -> Error {
    let what = if validator.is_rule() {
        "Document failed validation"
    } else {
        "invalid document"
    };
    let message = format!(
        "{what}: `{collection}` with `_id` = {}: {}",
        show(&id),
        listed(&violations)
    );
    let path = violations.first().map(|violation| violation.path.clone());
    let path = path.filter(|path| !path.is_empty());
    Error::new(ErrorKind::Invalid, message)
        .at(collection, path.as_deref(), Some(id))
        .with_violations(violations)
}
