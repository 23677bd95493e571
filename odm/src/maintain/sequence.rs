//! Sequences: `_id`s that are the next numbers of a collection, and the counters of all sequences.
//!
//! The last number of a sequence is in a document, its counter, which the inserting unit changes. So the numbers have
//! no gaps: a unit that is rolled back uses up no number.

use std::{borrow::Cow, slice};

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::cstr};
use odm_mql::{Direction, Filter, Sort, Test, path};
use odm_store::{Error, ErrorKind, Find, Reader, ReaderExt, Result, mutants::mutant};

use super::unit::{Doc, Unit};
use crate::{
    catalog::{self, COUNTERS, Catalog},
    model::IdOfNumber,
};

/// The field of the catalog's document that holds the last number that was given.
const LAST: &str = "last";

/// Which new documents get the next numbers of their collection as `_id`s.
#[derive(Debug, Clone)]
pub(crate) enum IdNumbering {
    /// All of them, which have no `_id`.
    All(IdOfNumber),
    /// The documents at these ascending positions, whose `_id`s were made in the place of missing ones, if a model declares a sequence.
    Declared(Vec<usize>),
}

impl IdNumbering {
    /// Whether it gives numbers in a collection.
    pub(super) fn applies(&self, catalog: &Catalog, collection: &str) -> bool {
        match self {
            IdNumbering::All(_) => true,
            IdNumbering::Declared(_) => catalog.relations().id_sequence(collection).is_some(),
        }
    }

    fn has(&self, at: usize) -> bool {
        match self {
            IdNumbering::All(_) => true,
            IdNumbering::Declared(positions) => positions.binary_search(&at).is_ok(),
        }
    }
}

/// Returns the documents with the next numbers of the sequence as `_id`s, or unchanged if their `_id`s are not from a sequence. A document
/// with an `_id` of its own keeps it.
///
/// The first number is greater than every number that was given before, even to a deleted document, and than every `_id`, stored or sent.
pub(super) async fn numbered<'d>(
    unit: &mut Unit<'_>,
    collection: &str,
    documents: &'d [Doc],
    numbering: Option<&IdNumbering>,
) -> Result<Cow<'d, [Doc]>> {
    let declared = unit.catalog.relations().id_sequence(collection);
    let id_of_number: &(dyn Fn(i64) -> Result<Option<RawBson>> + Sync) = match numbering {
        Some(IdNumbering::All(id_of_number)) => id_of_number,
        Some(IdNumbering::Declared(_)) if declared.is_some() => {
            &|number| Ok(declared.and_then(|sequence| sequence.id(number)))
        }
        _ => return Ok(documents.into()),
    };
    let is_numbered = |at| numbering.is_some_and(|numbering| numbering.has(at));
    let counter = SequenceCounter::of_ids(collection);
    let at = counter.position(unit).await?;
    let mut last = counter.last(unit, at).unwrap_or_default();
    last = last.max(greatest_id(unit, collection).await?);
    let sent = documents.iter().enumerate();
    let sent = sent.filter(|(at, _)| !is_numbered(*at));
    let sent = sent.filter_map(|(_, document)| path::get(document, "_id").and_then(whole));
    last = sent.fold(last, i64::max);

    let mut with_ids = Vec::with_capacity(documents.len());
    for (at, document) in documents.iter().enumerate() {
        if !is_numbered(at) {
            with_ids.push(document.clone());
            continue;
        }
        let next = last.checked_add(if mutant("gap in a sequence") { 2 } else { 1 });
        let id = next.map(id_of_number).transpose()?.flatten();
        let (Some(next), Some(id)) = (next, id) else {
            let message = format!(
                "the sequence of `{collection}` is used up: after {last} there is no other `_id` of its type"
            );
            return Err(Error::new(ErrorKind::Limit, message).at(collection, Some("_id"), None));
        };
        last = next;
        let mut with_id = RawDocumentBuf::new();
        with_id.append(cstr!("_id"), id);
        for element in document.iter() {
            let (name, value) = element.map_err(Error::malformed)?;
            if name.as_str() != "_id" {
                with_id.append(name, value);
            }
        }
        with_ids.push(Doc::new(with_id));
    }
    if !mutant("sequence given twice") {
        counter.set(unit, at, last).await?;
    }
    Ok(with_ids.into())
}

/// The document that holds the last number of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SequenceCounter {
    collection: &'static str,
    id: RawBson,
}

impl SequenceCounter {
    /// The counter of the `_id`s of a collection.
    pub(crate) fn of_ids(collection: &str) -> Self {
        SequenceCounter {
            collection: catalog::COLLECTION,
            id: RawBson::String(format!("sequence {collection}")),
        }
    }

    /// The counter of a field, as `collection.path`, in the documents of one parent.
    pub(crate) fn within(field: &str, parent: RawBson) -> Self {
        let mut id = RawDocumentBuf::new();
        id.append(cstr!("field"), field);
        id.append(cstr!("within"), parent);
        SequenceCounter {
            collection: COUNTERS,
            id: RawBson::Document(id),
        }
    }

    /// Reads the document of a counter of a field within a parent: the field, the counter, and the last number.
    pub(crate) fn read(document: &RawDocument) -> Option<(&str, Self, i64)> {
        let id = path::get(document, "_id")?;
        let field = path::get(id.as_document()?, "field")?.as_str()?;
        let counter = SequenceCounter {
            collection: COUNTERS,
            id: id.into(),
        };
        Some((field, counter, last_in(document)?))
    }

    /// The `_id` of its document.
    pub(super) fn into_id(self) -> RawBson {
        self.id
    }

    /// Reads the counters within parents among these into a unit, in one call. Returns the position of each, if they are distinct.
    pub(super) async fn load<'c>(
        unit: &mut Unit<'_>,
        counters: impl IntoIterator<Item = &'c SequenceCounter>,
    ) -> Result<Vec<usize>> {
        let counters = counters.into_iter();
        let counters = counters.filter(|counter| counter.collection == COUNTERS);
        let ids: Vec<RawBson> = counters.map(|counter| counter.id.clone()).collect();
        unit.load(COUNTERS, &ids).await
    }

    async fn position(&self, unit: &mut Unit<'_>) -> Result<usize> {
        let positions = unit.load(self.collection, slice::from_ref(&self.id));
        Ok(positions.await?[0])
    }

    /// The last number that was given, if any was.
    pub(super) fn last(&self, unit: &Unit<'_>, at: usize) -> Option<i64> {
        last_in(unit.document(self.collection, at)?)
    }

    /// Records the last number that was given.
    pub(super) async fn set(&self, unit: &mut Unit<'_>, at: usize, last: i64) -> Result<()> {
        let mut after = RawDocumentBuf::new();
        after.append(cstr!("_id"), self.id.clone());
        after.append(cstr!("last"), last);
        if unit.document(self.collection, at).is_some() {
            unit.change(self.collection, at, after).await.map(drop)
        } else {
            let inserted = unit.insert(self.collection, Doc::new(after));
            inserted.await.map(drop)
        }
    }

    /// Records a number that was given in another store: all later numbers are greater.
    pub(super) async fn raise(&self, unit: &mut Unit<'_>, last: i64) -> Result<()> {
        let at = self.position(unit).await?;
        if self.last(unit, at).is_none_or(|given| last > given) && !mutant("sequence of an import")
        {
            self.set(unit, at, last).await?;
        }
        Ok(())
    }
}

/// The last number in a counter.
pub(super) fn last_in(counter: &RawDocument) -> Option<i64> {
    path::get(counter, LAST).and_then(whole)
}

/// Returns the last number that a collection was given, if any.
pub(crate) async fn last_number(reader: &dyn Reader, collection: &str) -> Result<Option<i64>> {
    let SequenceCounter { collection, id } = SequenceCounter::of_ids(collection);
    let last = |counter: &RawDocument| Ok(last_in(counter));
    let (last, _) = reader.get_one_with(collection, &id, last).await?;
    Ok(last.flatten())
}

/// The greatest number among the `_id`s, or 0.
async fn greatest_id(unit: &mut Unit<'_>, collection: &str) -> Result<i64> {
    let find = Find {
        collection: collection.to_owned(),
        filter: Filter::Path("_id".into(), Test::Lte(RawBson::Int64(i64::MAX))),
        sort: Sort::new().by("_id", Direction::Descending),
        limit: Some(1),
        ..Find::default()
    };
    let ids = unit.search_ids(find).await?;
    Ok(ids
        .first()
        .and_then(|id| whole(id.as_raw_bson_ref()))
        .unwrap_or_default())
}

/// The number, or the whole number after a float, clamped to the range.
pub(super) fn whole(number: RawBsonRef<'_>) -> Option<i64> {
    match number {
        RawBsonRef::Int32(number) => Some(number.into()),
        RawBsonRef::Int64(number) => Some(number),
        RawBsonRef::Double(number) => Some(number.ceil() as i64),
        _ => None,
    }
}
