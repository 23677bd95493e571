//! Computed fields: values of expressions of the fields beside them.
//!
//! Such a field reads its own document alone, which a unit has if it changes it. So nothing is searched and nothing is read.

use async_trait::async_trait;
use bson::{RawBson, RawDocument};
use odm_mql::path;
use odm_store::{Error, ErrorKind, Result, mutants::mutant, show};

use super::{Derivation, DerivedKind, Inputs, of_kind, step_name};
use crate::{
    catalog::{ComputedDefinition, DerivedField, FieldDefinition, FromDerived, OrderedField, join},
    maintain::{
        places::{FieldValues, each_embedded},
        unit::{Doc, Image, Unit, id},
    },
};

/// The kind `#[computed]`.
pub(super) struct ComputedFields;

#[async_trait]
impl Derivation for ComputedFields {
    async fn refresh(&self, unit: &mut Unit<'_>, level: &[OrderedField<'_>]) -> Result<()> {
        for ordered in level {
            let Some(field) = ComputedDefinition::from_derived(ordered.field) else {
                continue;
            };
            let mut values: Vec<(usize, FieldValues)> = Vec::new();
            for (at, image) in unit.images(&field.holder).changed() {
                if let Some(now) = image.now()
                    && is_touched(field, image)
                {
                    values.push((at, wrong(field, now)?));
                }
            }
            for (at, values) in values {
                unit.set_derived(&field.holder, at, values).await?;
            }
            unit.end_step(|| step_name([&*field.path()].into_iter(), &field.holder));
        }
        Ok(())
    }

    async fn differences(
        &self,
        _: &mut dyn Inputs,
        fields: &[&DerivedField],
        documents: &[Doc],
    ) -> Result<Vec<FieldValues>> {
        let fields: Vec<&ComputedDefinition> = of_kind(fields);
        let documents = documents.iter();
        let differences = documents.map(|document| {
            let mut differences = FieldValues::new();
            for field in &fields {
                differences.extend(wrong(field, document)?);
            }
            Ok(differences)
        });
        differences.collect()
    }

    fn kind(&self) -> DerivedKind {
        DerivedKind::Computed
    }
}

/// Whether the unit has changed the field, or a field that it is computed from.
fn is_touched(field: &ComputedDefinition, image: &Image) -> bool {
    let (Some(before), Some(now)) = (image.before(), image.now()) else {
        return true;
    };
    let mut paths = field.reads().into_iter().map(|read| read.path);
    !path::is_same(before, now, &field.path())
        || paths.any(|path| !path::is_same(before, now, &path)) && !mutant("computed field")
}

/// The places of the field in a document where it has not the right value, with that value.
fn wrong(field: &ComputedDefinition, document: &RawDocument) -> Result<FieldValues> {
    let mut wrong = FieldValues::new();
    let mut failed = None;
    each_embedded(document, &field.within, &mut |place, inner| {
        let stored = path::get(inner, &field.name);
        match field.formula.evaluate(inner) {
            Ok(right) if stored.is_some_and(|stored| is_same(stored, &right)) => {}
            Ok(right) => wrong.push((place.path_of(&field.name), Some(right))),
            Err(error) => failed = failed.take().or(Some((place.path_of(&field.name), error))),
        }
    });
    let Some((path, why)) = failed else {
        return Ok(wrong);
    };
    let id = RawBson::from(id(document));
    let message = format!(
        "uncomputable value: `{}` of the document with `_id` = {}: {why}",
        join(&field.holder, &path),
        show(&id),
    );
    Err(Error::new(ErrorKind::Uncomputable, message)
        .with_source(why)
        .at(&field.holder, Some(&path), Some(id)))
}

/// Whether both are the same bytes. NaN is not equal to itself.
fn is_same(stored: bson::RawBsonRef<'_>, right: &RawBson) -> bool {
    match (stored, right) {
        (bson::RawBsonRef::Double(stored), RawBson::Double(right)) => {
            stored.to_bits() == right.to_bits()
        }
        (stored, right) => stored == right.as_raw_bson_ref(),
    }
}
