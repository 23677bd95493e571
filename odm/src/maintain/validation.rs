//! Validation of the documents that a write names, as they will be stored.
//!
//! A document is validated once, after all that is derived in it, by the validator of each database
//! that declares one for its collection. A document that only a refresh or an effect reaches is not: the
//! rename of a part must not fail because of an old product.

use bson::{RawBson, RawDocument};

use super::{
    Problem, Write, as_read,
    base::Touched,
    unit::{Unit, id},
};
use crate::{
    catalog::{ActiveValidator, Catalog},
    error::{Error, ErrorKind, Result, show},
    mql::Violation,
    store::DocumentCheck,
};

/// The check of a statement's documents, which the store runs.
pub(super) fn check_of(catalog: &Catalog, collection: &str) -> Option<DocumentCheck> {
    let validators = catalog.validators_of(collection)?;
    let collection = collection.to_owned();
    Some(DocumentCheck::new(move |before, after| {
        validate(&validators, &collection, before, after)
    }))
}

/// Validates the documents that the user's write has changed, with the cold parts that it has.
pub(super) fn check(unit: &Unit<'_>, write: &Write, touched: &Touched) -> Result<()> {
    if matches!(write, Write::Delete(_) | Write::Repair { .. }) {
        return Ok(());
    }
    let (catalog, collection) = (unit.catalog, write.collection());
    check_positions(unit, collection, &touched.positions)?;
    for split in catalog.splits_of(collection) {
        let images = unit.images(&split.cold);
        let changed = images.changed().filter(|(_, image)| image.is_base());
        let changed: Vec<usize> = changed.map(|(at, _)| at).collect();
        check_positions(unit, &split.cold, &changed)?;
    }
    Ok(())
}

/// Validates documents of which nothing more will change.
pub(super) fn check_positions(
    unit: &Unit<'_>,
    collection: &str,
    positions: &[usize],
) -> Result<()> {
    let Some(validators) = unit.catalog.validators_of(collection) else {
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
            validate(&validators, collection, before.as_deref(), &after)?;
        }
    }
    Ok(())
}

/// All that a stored document violates, whatever the level.
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

fn validate(
    validators: &[ActiveValidator],
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
            return Err(invalid(collection, id(after).into(), violations));
        }
    }
    Ok(())
}

fn listed(violations: &[Violation]) -> String {
    let texts: Vec<String> = violations.iter().map(Violation::to_string).collect();
    texts.join("; ")
}

fn invalid(collection: &str, id: RawBson, violations: Vec<Violation>) -> Error {
    let message = format!(
        "invalid document: `{collection}` with `_id` = {}: {}",
        show(&id),
        listed(&violations)
    );
    let path = violations.first().map(|violation| violation.path.clone());
    let path = path.filter(|path| !path.is_empty());
    Error::new(ErrorKind::Invalid, message)
        .at(collection, path.as_deref(), Some(id))
        .with_violations(violations)
}
