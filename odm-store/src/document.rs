//! The rules that every stored document obeys.

use std::sync::atomic::{AtomicU64, Ordering};

use bson::{DateTime, RawBsonRef, RawDocument, RawDocumentBuf, Timestamp, raw::cstr};
use odm_mql::{code, path};

use crate::error::{Error, ErrorKind, Result};

/// The largest document, in bytes.
#[doc(hidden)]
pub const MAX_LEN: usize = 16 << 20;

/// How deeply documents and arrays may be nested in each other.
#[doc(hidden)]
pub const MAX_DEPTH: usize = 180;

/// Checks that a document can be stored: that it is well-formed BSON, has an `_id` that is neither an
/// array, a regular expression, undefined nor a document with a name that begins with `$`, and is within the limits of
/// 16 MiB and 180 levels.
///
/// # Errors
///
/// [`Limit`](ErrorKind::Limit) or [`Encode`](ErrorKind::Encode), with the collection in the message.
pub fn check_document(collection: &str, document: &RawDocument) -> Result<()> {
    let id = check_stored(collection, document)?;
    check_names(collection, id)
}

/// Checks that a document can be stored in the place of a stored one, as [`check_document`] does. What both have is not read again.
///
/// # Errors
///
/// Those of [`check_document`].
pub fn check_replacement(
    collection: &str,
    before: &RawDocument,
    after: &RawDocument,
) -> Result<()> {
    let id = match after.as_bytes().len() <= MAX_LEN && path::is_valid_beside(after, before) {
        true => stored_id(collection, after)?,
        false => check_stored(collection, after)?,
    };
    check_names(collection, id)
}

/// Checks that a document can have been stored, and returns its `_id`. An earlier version of the library accepted any names in the `_id`.
#[doc(hidden)]
pub fn check_stored<'d>(collection: &str, document: &'d RawDocument) -> Result<RawBsonRef<'d>> {
    check_values(collection, document)?;
    stored_id(collection, document)
}

/// Checks that a document, of which the `_id` may be missing, is well-formed BSON within the limits.
#[doc(hidden)]
pub fn check_values(collection: &str, document: &RawDocument) -> Result<()> {
    let len = document.as_bytes().len();
    if len > MAX_LEN {
        let message =
            format!("a document of `{collection}` has {len} bytes, and the limit is {MAX_LEN}");
        return Err(Error::new(ErrorKind::Limit, message));
    }
    check_at(collection, document, 1)
}

fn stored_id<'d>(collection: &str, document: &'d RawDocument) -> Result<RawBsonRef<'d>> {
    match document.get("_id") {
        Ok(Some(id)) => check_id(collection, id).map(|()| id),
        _ => Err(refused(collection, "it has no `_id`")),
    }
}

fn check_at(collection: &str, document: &RawDocument, depth: usize) -> Result<()> {
    if depth > MAX_DEPTH {
        let message =
            format!("a document of `{collection}` is nested deeper than {MAX_DEPTH} levels");
        return Err(Error::new(ErrorKind::Limit, message));
    }
    for element in document.iter_elements() {
        let value = element.and_then(|element| element.value());
        match value {
            Ok(RawBsonRef::Document(inner)) => check_at(collection, inner, depth + 1)?,
            Ok(RawBsonRef::Array(array)) => {
                let inner = RawDocument::from_bytes(array.as_bytes())
                    .map_err(|error| malformed(collection, error))?;
                check_at(collection, inner, depth + 1)?;
            }
            Ok(RawBsonRef::JavaScriptCodeWithScope(code)) => {
                check_at(collection, code.scope, depth + 1)?;
            }
            Ok(_) => {}
            Err(error) => return Err(malformed(collection, error)),
        }
    }
    Ok(())
}

fn check_id(collection: &str, id: RawBsonRef<'_>) -> Result<()> {
    let refused_type = match id {
        RawBsonRef::Array(_) => "an array",
        RawBsonRef::RegularExpression(_) => "a regular expression",
        RawBsonRef::Undefined => "undefined",
        _ => return Ok(()),
    };
    let error = refused(collection, &format!("its `_id` is {refused_type}"));
    Err(error.with_code(code::INVALID_ID_FIELD))
}

/// Checks the names in an `_id` that is a document. A filter could not tell a name that begins with `$` from an operator.
fn check_names(collection: &str, id: RawBsonRef<'_>) -> Result<()> {
    let RawBsonRef::Document(id) = id else {
        return Ok(());
    };
    let mut names = id.iter().flatten().map(|(name, _)| name.as_str());
    match names.find(|name| name.starts_with('$')) {
        None => Ok(()),
        Some(name) => {
            let why = format!("its `_id` has a name that begins with `$`: `{name}`");
            Err(refused(collection, &why).with_code(code::DOLLAR_PREFIXED_FIELD_NAME))
        }
    }
}

/// Returns a whole document from a caller as MongoDB stores it: with the time in the place of each top-level field `Timestamp(0, 0)`,
/// except `_id`. Returns `None` if there is no such field.
#[doc(hidden)]
pub fn stamped(document: &RawDocument) -> Option<RawDocumentBuf> {
    let is_open = |name: &str, value: RawBsonRef<'_>| {
        let zero = Timestamp {
            time: 0,
            increment: 0,
        };
        name != "_id" && value == RawBsonRef::Timestamp(zero)
    };
    let mut elements = document.iter().flatten();
    if !elements.any(|(name, value)| is_open(name.as_str(), value)) {
        return None;
    }
    /// The last timestamp of this process.
    static LAST: AtomicU64 = AtomicU64::new(0);
    let mut stamped = RawDocumentBuf::new();
    for (name, value) in document.iter().flatten() {
        if is_open(name.as_str(), value) {
            stamped.append(name, next_timestamp(&LAST, DateTime::now()));
        } else {
            stamped.append(name, value);
        }
    }
    Some(stamped)
}

/// The timestamp of a time, or the least one after the last, if the last one is not before it. The seconds of `last` are in its upper half,
/// and the counter below them in its lower half.
fn next_timestamp(last: &AtomicU64, now: DateTime) -> Timestamp {
    let seconds = now.timestamp_millis().div_euclid(1000).max(0);
    let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
    let after = |last: u64| last.max(u64::from(seconds) << 32) + 1;
    let update = last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
        Some(after(last))
    });
    let (Ok(last) | Err(last)) = update;
    let next = after(last);
    Timestamp {
        time: (next >> 32) as u32,
        increment: next as u32,
    }
}

#[cold]
fn refused(collection: &str, why: &str) -> Error {
    Error::new(
        ErrorKind::Encode,
        format!("a document of `{collection}` cannot be stored: {why}"),
    )
}

#[cold]
fn malformed(collection: &str, error: bson::error::Error) -> Error {
    let message =
        format!("a document of `{collection}` cannot be stored: it is malformed: {error}");
    Error::new(ErrorKind::Encode, message)
        .with_source(error)
        .with_code(code::INVALID_BSON)
}

/// Returns the document with `_id` as its first field, or `None` if it is the first already.
#[doc(hidden)]
pub fn id_first(document: &RawDocument, id: RawBsonRef<'_>) -> Option<RawDocumentBuf> {
    if let Some(Ok(first)) = document.iter_elements().next()
        && first.key().as_str() == "_id"
    {
        return None;
    }
    let mut reordered = RawDocumentBuf::new();
    reordered.append(cstr!("_id"), id);
    for (name, value) in document.iter().flatten() {
        if name.as_str() != "_id" {
            reordered.append(name, value);
        }
    }
    Some(reordered)
}

#[cfg(test)]
mod tests {
    use bson::{Bson, doc, rawdoc};

    use super::*;

    /// The error of a document, which is the same in the place of another one.
    fn kind(document: &RawDocument) -> Option<ErrorKind> {
        let kind = |checked: Result<()>| checked.err().map(|error| error.kind());
        let error = kind(check_document("parts", document));
        for before in [
            nested(2),
            nested(180),
            rawdoc! { "_id": 1, "a": { "b": "text" } },
        ] {
            let replaced = check_replacement("parts", &before, document);
            assert_eq!(kind(replaced), error);
        }
        error
    }

    fn nested(levels: usize) -> RawDocumentBuf {
        let mut value = Bson::Int32(1);
        for level in 1..levels {
            value = match level % 2 {
                0 => Bson::Array(vec![value]),
                _ => Bson::Document(doc! { "a": value }),
            };
        }
        RawDocumentBuf::try_from(&doc! { "_id": 1, "a": value }).expect("a document")
    }

    #[test]
    fn a_hundred_and_eighty_levels_are_stored_and_one_more_is_not() {
        assert_eq!(kind(&nested(180)), None);
        assert_eq!(kind(&nested(181)), Some(ErrorKind::Limit));
    }

    #[test]
    fn a_document_of_sixteen_mebibytes_is_stored_and_a_byte_more_is_not() {
        let empty = rawdoc! { "_id": 1, "a": "" }.as_bytes().len();
        let fits = rawdoc! { "_id": 1, "a": "x".repeat(MAX_LEN - empty) };
        assert_eq!(kind(&fits), None);
        let large = rawdoc! { "_id": 1, "a": "x".repeat(MAX_LEN - empty + 1) };
        assert_eq!(kind(&large), Some(ErrorKind::Limit));
    }

    #[test]
    fn every_byte_of_a_document_is_read_before_it_is_stored() {
        // The length of the inner string is too large for it.
        let mut bytes = rawdoc! { "_id": 1, "a": { "b": "text" } }.into_bytes();
        let at = bytes
            .windows(4)
            .position(|bytes| bytes == b"text")
            .expect("the text")
            - 4;
        bytes[at] = 200;
        let damaged = RawDocumentBuf::from_bytes(bytes).expect("the frame is sound");
        assert_eq!(kind(&damaged), Some(ErrorKind::Encode));
    }

    #[test]
    fn an_id_is_no_array_no_pattern_and_has_no_operator() {
        let code = |id: Bson| {
            let document = RawDocumentBuf::try_from(&doc! { "_id": id }).expect("a document");
            let error = check_document("parts", &document).err()?;
            assert_eq!(error.kind(), ErrorKind::Encode);
            Some((error.code()?, error.code_name()?.into_owned()))
        };
        let named = |code, name: &str| Some((code, name.to_owned()));
        let pattern = Bson::RegularExpression(bson::Regex {
            pattern: "a".try_into().expect("no NUL"),
            options: "".try_into().expect("no NUL"),
        });
        for id in [vec![1].into(), pattern, Bson::Undefined] {
            assert_eq!(code(id), named(53, "InvalidIdField"));
        }
        for id in [doc! { "$a": 1 }, doc! { "a": 1, "$ref": 2 }] {
            assert_eq!(code(id.into()), named(52, "DollarPrefixedFieldName"));
        }
        for id in [doc! { "a": 1 }, doc! { "a": { "$b": 1 } }, doc! { "a$": 1 }] {
            assert_eq!(code(id.into()), None);
        }
        assert_eq!(kind(&rawdoc! { "a": 1 }), Some(ErrorKind::Encode));
        // A file may have it from before.
        assert!(check_stored("parts", &rawdoc! { "_id": { "$a": 1 } }).is_ok());
    }

    #[test]
    fn an_open_timestamp_is_the_time_of_the_insert() {
        let open = Timestamp {
            time: 0,
            increment: 0,
        };
        let document = rawdoc! { "_id": open, "a": open, "b": { "c": open }, "d": open };
        let after = stamped(&document).unwrap();
        let time = |name| after.get_timestamp(name).expect("a timestamp");
        assert!(time("a").time > 0 && time("a") < time("d"));
        assert_eq!(time("_id"), open);
        assert_eq!(
            after.get_document("b").ok(),
            document.get_document("b").ok()
        );
        let other = rawdoc! { "_id": 1, "a": 1 };
        assert_eq!(stamped(&other), None);
    }

    #[test]
    fn timestamps_increase_within_a_second_and_when_the_clock_is_set_back() {
        let last = AtomicU64::new(0);
        let at = |seconds: i64| {
            let next = next_timestamp(&last, DateTime::from_millis(seconds * 1000 + 999));
            (next.time, next.increment)
        };
        let times = [100, 100, 40, -5, 101, 101].map(at);
        assert_eq!(
            times,
            [(100, 1), (100, 2), (100, 3), (100, 4), (101, 1), (101, 2)]
        );
        last.store((102 << 32) - 1, Ordering::Relaxed);
        assert_eq!(at(101), (102, 0));
    }

    #[test]
    fn the_id_is_moved_to_the_front() {
        let document = rawdoc! { "a": 1, "_id": 7, "b": 2 };
        let id = RawBsonRef::Int32(7);
        let moved = id_first(&document, id).expect("it was not the first");
        assert_eq!(moved, rawdoc! { "_id": 7, "a": 1, "b": 2 });
        assert_eq!(id_first(&moved, id), None);
    }
}
