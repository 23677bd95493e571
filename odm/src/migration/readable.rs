//! Whether the stored documents can be read by the models of a new version.

use std::collections::BTreeSet;

use bson::RawDocument;
use odm_mql::{Schema, Violation};
use odm_store::Result;

use crate::{
    catalog::{Declaration, FieldChangeKind, StoredDatabase, differences},
    model::ReadCheck,
};

/// The collections whose models have more than additions, so that older documents may be unreadable.
pub(crate) fn with_changed_models(
    stored: &StoredDatabase,
    declaration: &Declaration,
) -> BTreeSet<String> {
    let Some(before) = &stored.models else {
        return BTreeSet::new();
    };
    let changes = differences(before, &declaration.models).into_iter();
    let can_be_unreadable = changes.filter(|change| match &change.kind {
        FieldChangeKind::Added { required, .. } => *required,
        FieldChangeKind::Retyped { .. } | FieldChangeKind::Required | FieldChangeKind::Rules => {
            true
        }
        FieldChangeKind::Removed | FieldChangeKind::Optional => false,
    });
    let changed: BTreeSet<String> = can_be_unreadable.map(|change| change.collection).collect();
    let models = declaration
        .models
        .iter()
        .map(|model| model.collection.clone());
    models
        .filter(|collection| changed.contains(collection))
        .collect()
}

/// Returns the violation because of which a document cannot be read: of the rules for types, not of the values that `#[validate(..)]`
/// allows. A range can belong to either, so a trial read decides. Reading alone would not do: a new derived field is not there yet.
pub(super) fn unreadable(
    schema: &Schema,
    read: Option<ReadCheck>,
    document: &RawDocument,
) -> Result<Option<Violation>> {
    let violations = schema.violations(document)?;
    let is_of_type = |violation: &&Violation| {
        matches!(
            violation.rule.as_str(),
            "bsonType"
                | "nativeForm"
                | "required"
                | "additionalProperties"
                | "anyOf"
                | "oneOf"
                | "not"
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
    Ok(first.cloned())
}
