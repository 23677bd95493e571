//! Sequences: `_id`s that are the next numbers of a collection.
//!
//! The last number of a collection is a document of the stored catalog, which changes in the unit that inserts: so the
//! numbers have no gaps, and a unit that is rolled back uses up none.

use std::{borrow::Cow, slice};

use bson::{RawBson, RawBsonRef, RawDocumentBuf, raw::cstr};

use super::{Doc, Unit};
use crate::{
    catalog,
    error::{Error, ErrorKind, Result},
    mql::{Direction, Filter, Sort, Test, path},
    store::Find,
};

/// Makes the stored `_id` of a number, if the type of the `_id` has it.
pub(crate) type IdOfNumber = fn(i64) -> Result<Option<RawBson>>;

/// Where the document of the catalog has the last number that was given.
const LAST: &str = "last";

/// The documents with the next numbers of their collection as `_id`s, if these are numbers of a sequence.
///
/// The first is greater than all that were given, those of deleted documents too, and than any `_id` that is stored: a
/// document may have been inserted with an `_id` of its own.
pub(super) async fn numbered<'d>(
    unit: &mut Unit<'_>,
    collection: &str,
    documents: &'d [Doc],
    numbered: Option<IdOfNumber>,
) -> Result<Cow<'d, [Doc]>> {
    let Some(id_of_number) = numbered else {
        return Ok(documents.into());
    };
    let counter = RawBson::String(format!("sequence {collection}"));
    let counters = unit
        .load_existing(catalog::COLLECTION, slice::from_ref(&counter))
        .await?;
    let counter_at = counters.first().copied();
    let given = counter_at.and_then(|at| unit.document(catalog::COLLECTION, at));
    let given = given.and_then(|counter| path::get(counter, LAST));
    let mut last = given.and_then(RawBsonRef::as_i64).unwrap_or_default();
    last = last.max(greatest_id(unit, collection).await?);

    let mut with_ids = Vec::with_capacity(documents.len());
    for document in documents {
        let next = last.checked_add(1);
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

    let mut after = RawDocumentBuf::new();
    after.append(cstr!("_id"), counter);
    after.append(cstr!("last"), last);
    match counter_at {
        Some(at) => drop(unit.change(catalog::COLLECTION, at, after).await?),
        None => drop(unit.insert(catalog::COLLECTION, Doc::new(after)).await?),
    }
    Ok(with_ids.into())
}

/// The greatest number that is an `_id`, or 0.
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
        // A float becomes the next integer; beyond the range, the greatest.
        Some(RawBson::Double(id)) => id.ceil() as i64,
        _ => 0,
    })
}
