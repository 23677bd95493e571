//! Sequences: `_id`s that are the next numbers of a collection.
//!
//! The last number of a collection is in a document of the stored catalog, which the inserting unit changes. So the numbers have
//! no gaps: a unit that is rolled back uses up no number.

use std::{borrow::Cow, slice};

use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::cstr};
use odm_mql::{Direction, Filter, Sort, Test, path};
use odm_store::{Error, ErrorKind, Find, Reader, ReaderExt, Result, mutants::mutant};

use super::unit::{Doc, Unit};
use crate::catalog;

/// Converts a number to the stored `_id`; `None` if the type of the `_id` cannot represent it.
pub(crate) type IdOfNumber = fn(i64) -> Result<Option<RawBson>>;

/// The field of the catalog's document that holds the last number that was given.
const LAST: &str = "last";

/// Returns the documents with the next numbers of the sequence as `_id`s, or unchanged if their `_id`s are not from a sequence.
///
/// The first number is greater than every number that was given before, even to a deleted document, and than every stored `_id`:
/// a document may have been inserted with an `_id` of its own.
pub(super) async fn numbered<'d>(
    unit: &mut Unit<'_>,
    collection: &str,
    documents: &'d [Doc],
    numbered: Option<IdOfNumber>,
) -> Result<Cow<'d, [Doc]>> {
    let Some(id_of_number) = numbered else {
        return Ok(documents.into());
    };
    let mut last = given(unit, collection).await?;
    last = last.max(greatest_id(unit, collection).await?);

    let mut with_ids = Vec::with_capacity(documents.len());
    for document in documents {
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
            with_id.append(name, value);
        }
        with_ids.push(Doc::new(with_id));
    }
    if !mutant("sequence given twice") {
        give(unit, collection, last).await?;
    }
    Ok(with_ids.into())
}

/// The `_id` of the catalog's document that holds the last number of a collection.
fn counter_of(collection: &str) -> RawBson {
    RawBson::String(format!("sequence {collection}"))
}

fn last_in(counter: &RawDocument) -> Option<i64> {
    path::get(counter, LAST).and_then(RawBsonRef::as_i64)
}

/// Returns the last number that a collection was given, if any.
pub(crate) async fn last_number(reader: &dyn Reader, collection: &str) -> Result<Option<i64>> {
    let counter = counter_of(collection);
    let last = |counter: &RawDocument| Ok(last_in(counter));
    let (last, _) = reader
        .get_one_with(catalog::COLLECTION, &counter, last)
        .await?;
    Ok(last.flatten())
}

/// The last number that a collection was given, or 0.
async fn given(unit: &mut Unit<'_>, collection: &str) -> Result<i64> {
    let counter = counter_of(collection);
    let counters = unit.load_existing(catalog::COLLECTION, slice::from_ref(&counter));
    let counter_at = counters.await?.first().copied();
    let counter = counter_at.and_then(|at| unit.document(catalog::COLLECTION, at));
    Ok(counter
        .and_then(|counter| last_in(counter))
        .unwrap_or_default())
}

/// Records the last number that a collection was given.
async fn give(unit: &mut Unit<'_>, collection: &str, last: i64) -> Result<()> {
    let counter = counter_of(collection);
    let mut after = RawDocumentBuf::new();
    after.append(cstr!("_id"), counter.clone());
    after.append(cstr!("last"), last);
    let counters = unit.load_existing(catalog::COLLECTION, slice::from_ref(&counter));
    match counters.await?.first() {
        Some(&at) => drop(unit.change(catalog::COLLECTION, at, after).await?),
        None => drop(unit.insert(catalog::COLLECTION, Doc::new(after)).await?),
    }
    Ok(())
}

/// Records a number that a collection was given in another store: all later numbers are greater.
pub(super) async fn given_elsewhere(
    unit: &mut Unit<'_>,
    collection: &str,
    last: i64,
) -> Result<()> {
    if last > given(unit, collection).await? && !mutant("sequence of an import") {
        give(unit, collection, last).await?;
    }
    Ok(())
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
    Ok(match ids.first() {
        Some(RawBson::Int32(id)) => (*id).into(),
        Some(RawBson::Int64(id)) => *id,
        // A float is rounded up, and clamped to the range.
        Some(RawBson::Double(id)) => id.ceil() as i64,
        _ => 0,
    })
}
