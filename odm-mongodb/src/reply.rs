//! Numbers in replies, whose type is the server's choice.

use bson::{Bson, Document, RawBsonRef, RawDocument};

/// A number that is not negative, or 0 if it is missing.
pub(super) fn number(reply: &Document, name: &str) -> u64 {
    match reply.get(name) {
        Some(Bson::Int32(number)) => u64::try_from(*number).unwrap_or(0),
        Some(Bson::Int64(number)) => u64::try_from(*number).unwrap_or(0),
        Some(Bson::Double(number)) => *number as u64,
        _ => 0,
    }
}

/// The same as [`number`], for a raw document.
pub(super) fn raw_number(reply: &RawDocument, name: &str) -> u64 {
    match reply.get(name) {
        Ok(Some(RawBsonRef::Int32(number))) => u64::try_from(number).unwrap_or(0),
        Ok(Some(RawBsonRef::Int64(number))) => u64::try_from(number).unwrap_or(0),
        Ok(Some(RawBsonRef::Double(number))) => number as u64,
        _ => 0,
    }
}
