//! Imports: documents that were stored elsewhere before.
//!
//! They are inserted as by any write, with all consequences, but keep values that an insert would set anew: frozen copies, copies
//! of documents that are gone, versions and times.

use std::collections::BTreeMap;

use bson::RawBson;
use odm_store::{Error, ErrorKind, Result, show};

use super::{
    cold,
    pending::as_read,
    pipeline::Work,
    policy::Policy,
    read_only,
    sequence::SequenceCounter,
    unit::{Doc, Totals, Unit, id},
    validation::{self, LeftBy},
};

/// Documents of several collections, which may reference each other and stored documents.
#[derive(Debug)]
pub(crate) struct ImportedDocuments {
    pub(crate) origin: ImportOrigin,
    pub(crate) documents: Vec<Imported>,
    /// The last numbers of sequences.
    pub(crate) last_numbers: Vec<(SequenceCounter, i64)>,
}

/// The program that has stored imported documents before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ImportOrigin {
    /// The library, of which they are a copy or an export.
    Library,
    /// Another program.
    Other,
}

/// A document that is imported.
#[derive(Debug, Clone)]
pub(crate) struct Imported {
    pub(crate) collection: String,
    /// The whole document.
    pub(crate) document: Doc,
    /// Its cold parts as they were stored, each with its collection. If there are any, they replace the parts in `document`; if
    /// not, the cold parts are made from `document`.
    pub(crate) parts: Vec<(String, Doc)>,
}

/// The inserted documents, by their collections.
type Inserted = Vec<(String, Vec<usize>)>;

impl Work for ImportedDocuments {
    type Progress = Inserted;
    type Outcome = Totals;

    fn policy(&self) -> Policy {
        match self.origin {
            ImportOrigin::Library => Policy::IMPORT,
            ImportOrigin::Other => Policy::IMPORT_FILES,
        }
    }

    fn documents(&self) -> u64 {
        self.documents.len() as u64
    }

    fn step(&self) -> String {
        "import".to_owned()
    }

    async fn change(&self, unit: &mut Unit<'_>, inserted: &mut Inserted) -> Result<bool> {
        let counters = self.last_numbers.iter().map(|(counter, _)| counter);
        SequenceCounter::load(unit, counters).await?;
        for (counter, last) in &self.last_numbers {
            counter.raise(unit, *last).await?;
        }
        let mut documents: BTreeMap<&str, Vec<Doc>> = BTreeMap::new();
        for imported in &self.documents {
            let Imported {
                collection,
                document,
                parts,
            } = imported;
            // A database may have been declared since the import began.
            read_only::check_collection(unit.catalog, collection)?;
            if parts.is_empty() {
                let of = documents.entry(collection).or_default();
                of.push(document.clone());
                continue;
            }
            let (hot, _) = unit.catalog.split_document(collection, document)?;
            let at = unit.insert(collection, Doc::new(hot.into_owned())).await?;
            inserted.push((collection.clone(), vec![at]));
            for (cold, part) in parts {
                unit.insert(cold, part.clone()).await?;
            }
        }
        for (collection, documents) in documents {
            let positions = cold::insert(unit, collection, &documents).await?;
            inserted.push((collection.to_owned(), positions));
        }
        Ok(false)
    }

    fn changed<'p>(&'p self, inserted: &'p Inserted) -> Vec<(&'p str, &'p [usize])> {
        let inserted = inserted.iter();
        let inserted = inserted.map(|(collection, positions)| (&**collection, &positions[..]));
        inserted.collect()
    }

    fn validate(&self, unit: &Unit<'_>, inserted: &Inserted) -> Result<()> {
        for (collection, positions) in inserted {
            validation::check(unit, collection, positions, LeftBy::Import)?;
            check_readable(unit, collection, positions)?;
            for split in unit.catalog.splits_of(collection) {
                let images = unit.images(&split.cold);
                let changed = images.changed().filter(|(_, image)| image.is_base());
                let changed: Vec<usize> = changed.map(|(at, _)| at).collect();
                check_readable(unit, &split.cold, &changed)?;
            }
        }
        Ok(())
    }

    fn outcome(_: Inserted, totals: Totals) -> Totals {
        totals
    }

    fn has_queued(totals: &Totals) -> bool {
        totals.has_queued
    }
}

/// Refuses documents that their model cannot read, whatever the setting of the validation.
fn check_readable(unit: &Unit<'_>, collection: &str, positions: &[usize]) -> Result<()> {
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
