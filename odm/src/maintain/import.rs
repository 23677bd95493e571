//! Imports: documents that were stored elsewhere before.
//!
//! They are inserted as by any write, with all that follows from it. What else a new document is given, they have
//! already, and keep: frozen copies, copies of documents that are gone, versions and times.

use std::collections::BTreeMap;

use bson::RawBson;
use odm_store::{Cost, Error, ErrorKind, Result, Transaction, show};

use super::{
    Doc, as_read, cold, derived, inverse, references,
    run::Work,
    sequence,
    unit::{Bounds, Unit, id},
    validation::{self, LeftBy},
};
use crate::catalog::Catalog;

/// Documents of several collections, which refer to each other and to what is stored.
#[derive(Debug, Default)]
pub(crate) struct Import {
    pub(crate) documents: Vec<Imported>,
    /// The last numbers that collections were given.
    pub(crate) last_numbers: Vec<(String, i64)>,
}

/// A document that is imported.
#[derive(Debug, Clone)]
pub(crate) struct Imported {
    pub(crate) collection: &'static str,
    /// The whole document.
    pub(crate) document: Doc,
    /// Its cold parts as they were stored, each with its collection: they take the place of those in the document, from which
    /// they are made where there are none here.
    pub(crate) parts: Vec<(String, Doc)>,
}

impl Work for Import {
    /// What it touched, and whether something is left to the worker of the outbox.
    type Outcome = (Cost, bool);

    fn has_queued((_, has_queued): &(Cost, bool)) -> bool {
        *has_queued
    }

    async fn apply(
        &self,
        catalog: &Catalog,
        transaction: &mut dyn Transaction,
        with_steps: bool,
    ) -> Result<(Cost, bool)> {
        let mut unit = Unit::new(catalog, transaction, Bounds::default(), with_steps);
        unit.imports = true;
        for (collection, last) in &self.last_numbers {
            sequence::given_elsewhere(&mut unit, collection, *last).await?;
        }
        let mut documents: BTreeMap<&str, Vec<Doc>> = BTreeMap::new();
        let mut inserted: Vec<(&str, Vec<usize>)> = Vec::new();
        for imported in &self.documents {
            let Imported {
                collection,
                document,
                parts,
            } = imported;
            if parts.is_empty() {
                let of = documents.entry(collection).or_default();
                of.push(document.clone());
                continue;
            }
            let (hot, _) = catalog.divide(collection, document)?;
            let at = unit.insert(collection, Doc::new(hot.into_owned())).await?;
            inserted.push((collection, vec![at]));
            for (cold, part) in parts {
                unit.insert(cold, part.clone()).await?;
            }
        }
        for (collection, documents) in documents {
            let positions = cold::insert(&mut unit, collection, &documents).await?;
            inserted.push((collection, positions));
        }
        // When all are there: they may name each other.
        for (collection, positions) in &inserted {
            let mut unread = inverse::apply(&mut unit, collection, positions).await?;
            unread.update(&mut unit).await?;
        }
        derived::refresh(&mut unit).await?;
        for (collection, positions) in &inserted {
            check(&unit, collection, positions)?;
            for split in catalog.splits_of(collection) {
                let images = unit.images(&split.cold);
                let changed = images.changed().filter(|(_, image)| image.is_base());
                let changed: Vec<usize> = changed.map(|(at, _)| at).collect();
                check(&unit, &split.cold, &changed)?;
            }
        }
        unit.finish().await?;
        references::check(&mut unit, true).await?;
        let has_queued = unit.outbox.has_queued();
        Ok((unit.into_cost()?.1, has_queued))
    }
}

/// Refuses documents that do not conform to their schema, or that their model cannot read, whatever the setting of
/// the validation.
fn check(unit: &Unit<'_>, collection: &str, positions: &[usize]) -> Result<()> {
    validation::check_positions(unit, collection, positions, LeftBy::Import)?;
    for &at in positions {
        let Some(document) = unit.document(collection, at) else {
            continue;
        };
        let read = as_read(unit.catalog, collection, document)?;
        for check in unit.catalog.read_checks(collection) {
            let Some(why) = check.unreadable(&read)? else {
                continue;
            };
            let id = RawBson::from(id(document));
            let message = format!(
                "unreadable document: its model cannot read that of `{collection}` with `_id` = {}: {why}",
                show(&id)
            );
            return Err(Error::new(ErrorKind::Decode, message)
                .at(collection, why.path(), Some(id))
                .with_source(why.source));
        }
    }
    Ok(())
}
