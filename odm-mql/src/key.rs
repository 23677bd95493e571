//! Keys: encodings of values as bytes that sort like the values.
//!
//! The encoding of a value begins with a byte for its class of types, and contains its own end, so that encodings can be concatenated to a
//! compound key. `memcmp` on keys is the order of [`compare`](crate::order::compare) on the values, and keys are the same bytes if and only
//! if the values are equal in that order. A value can therefore not be decoded from its key alone: `1` and `1.0` have the same one. It can be
//! where it is known of which types all values are ([`Types`]).
//!
//! | class | after its byte |
//! |---|---|
//! | number | the largest double below, as an ordered integer; 0, or 1 and the decimal value |
//! | string, code | the bytes, with 00 and 01 escaped by 01, and 00 |
//! | document | for each field class, name, value; then 00 |
//! | array | for each element class, value; then 00 |
//! | binary | length, subtype, bytes |
//! | others | as many bytes as they have |

mod types;

use bson::{RawArray, RawBsonRef, RawDocument};

use crate::{
    Collation, Direction, fold,
    number::Number,
    order::{Class, MAX_DEPTH, binary_len, pointer_bytes},
    path, steps,
};

#[doc(hidden)]
pub use self::types::Types;

/// Appends the key of a value. A missing value has the key of null.
#[inline]
#[doc(hidden)]
pub fn encode(value: RawBsonRef<'_>, out: &mut Vec<u8>) {
    encode_by(None, value, out);
}

/// Appends the key of a value, with the keys of a collation in the place of its texts.
#[inline]
#[doc(hidden)]
pub fn encode_by(collation: Option<&Collation>, value: RawBsonRef<'_>, out: &mut Vec<u8>) {
    steps::step();
    out.push(Class::of(value) as u8);
    encode_body(value, collation, out, 0);
}

/// Returns the key of a value.
///
/// Equal values have the same key, also `1` and `1.0`, and keys sort as the values do. The key of a list of values is the concatenation of
/// the keys of the values.
pub fn of(value: RawBsonRef<'_>) -> Vec<u8> {
    let mut key = Vec::with_capacity(capacity(value));
    encode(value, &mut key);
    key
}

/// Returns the key of a value as [`encode_by`] appends it.
#[doc(hidden)]
pub fn of_by(collation: Option<&Collation>, value: RawBsonRef<'_>) -> Vec<u8> {
    let mut key = Vec::with_capacity(capacity(value));
    encode_by(collation, value, &mut key);
    key
}

/// The length of most keys of values like this one, or more.
fn capacity(value: RawBsonRef<'_>) -> usize {
    match value {
        RawBsonRef::String(text) => text.len() + 2,
        RawBsonRef::Document(document) => document.as_bytes().len(),
        RawBsonRef::Array(array) => array.as_bytes().len(),
        _ => 16,
    }
}

/// Appends the key of a value such that keys sort in this direction: a descending key is the ascending key with all bits inverted.
#[doc(hidden)]
pub fn encode_directed(value: RawBsonRef<'_>, direction: Direction, out: &mut Vec<u8>) {
    encode_directed_by(None, value, direction, out);
}

/// Appends the key of a value as [`encode_directed`] does, with the keys of a collation in the place of its texts.
#[doc(hidden)]
pub fn encode_directed_by(
    collation: Option<&Collation>,
    value: RawBsonRef<'_>,
    direction: Direction,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    encode_by(collation, value, out);
    if direction == Direction::Descending {
        for byte in &mut out[start..] {
            *byte = !*byte;
        }
    }
}

/// Appends the key of a value as [`encode_directed`] does, with texts folded: texts that differ only in case have the same key.
#[doc(hidden)]
pub fn encode_folded(value: RawBsonRef<'_>, direction: Direction, out: &mut Vec<u8>) {
    match value {
        RawBsonRef::String(text) | RawBsonRef::Symbol(text) => {
            encode_directed(RawBsonRef::String(&fold::text(text)), direction, out);
        }
        value => encode_directed(value, direction, out),
    }
}

/// The bounds of the keys of all values that `$lt` and the like can compare with this one: the first is included, the second is excluded.
#[doc(hidden)]
pub fn bracket(value: RawBsonRef<'_>) -> (Vec<u8>, Vec<u8>) {
    bracket_directed(value, Direction::Ascending)
}

/// The same as [`bracket`], for keys of this direction.
#[doc(hidden)]
pub fn bracket_directed(value: RawBsonRef<'_>, direction: Direction) -> (Vec<u8>, Vec<u8>) {
    let class = Class::of(value) as u8 ^ mask(direction);
    (vec![class], vec![class + 1])
}

/// Whether a key is the key of null or of undefined.
#[doc(hidden)]
pub fn is_absent(key: &[u8]) -> bool {
    matches!(key, [class] if *class == Class::Null as u8 || *class == Class::Undefined as u8)
}

/// The length of the first key in these bytes, which was encoded in this direction, or `None` if they
/// do not begin with a key.
#[doc(hidden)]
pub fn skip(bytes: &[u8], direction: Direction) -> Option<usize> {
    let mask = mask(direction);
    let len = 1 + body_len(*bytes.first()? ^ mask, &bytes[1..], mask, 0)?;
    (len <= bytes.len()).then_some(len)
}

fn mask(direction: Direction) -> u8 {
    match direction {
        Direction::Ascending => 0,
        Direction::Descending => 0xff,
    }
}

#[inline]
fn encode_body(
    value: RawBsonRef<'_>,
    collation: Option<&Collation>,
    out: &mut Vec<u8>,
    depth: usize,
) {
    match value {
        RawBsonRef::MinKey | RawBsonRef::MaxKey | RawBsonRef::Undefined | RawBsonRef::Null => {}
        RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_)
        | RawBsonRef::Double(_)
        | RawBsonRef::Decimal128(_) => {
            if let Some(number) = Number::new(value) {
                number.encode(out);
            }
        }
        RawBsonRef::String(text) | RawBsonRef::Symbol(text) => match collation {
            None => encode_bytes(text.as_bytes(), out),
            Some(collation) => {
                let mut key = Vec::with_capacity(2 * text.len());
                collation.encode(text, &mut key);
                encode_bytes(&key, out);
            }
        },
        RawBsonRef::JavaScriptCode(text) => encode_bytes(text.as_bytes(), out),
        RawBsonRef::Document(document) => encode_document(document, collation, out, depth),
        RawBsonRef::Array(array) => encode_array(array, collation, out, depth),
        RawBsonRef::Binary(binary) => {
            out.extend_from_slice(&(binary_len(binary) as u32).to_be_bytes());
            out.push(binary.subtype.into());
            out.extend_from_slice(binary.bytes);
        }
        RawBsonRef::ObjectId(id) => out.extend_from_slice(&id.bytes()),
        RawBsonRef::Boolean(value) => out.push(value.into()),
        RawBsonRef::DateTime(date) => {
            // The sign bit is inverted, so that dates before 1970 come first.
            let millis = date.timestamp_millis() ^ i64::MIN;
            out.extend_from_slice(&millis.to_be_bytes());
        }
        RawBsonRef::Timestamp(timestamp) => {
            out.extend_from_slice(&timestamp.time.to_be_bytes());
            out.extend_from_slice(&timestamp.increment.to_be_bytes());
        }
        RawBsonRef::RegularExpression(regex) => {
            encode_bytes(regex.pattern.as_str().as_bytes(), out);
            encode_bytes(regex.options.as_str().as_bytes(), out);
        }
        RawBsonRef::DbPointer(_) => {
            let bytes = pointer_bytes(value);
            out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
            out.extend_from_slice(&bytes);
        }
        RawBsonRef::JavaScriptCodeWithScope(code) => {
            encode_bytes(code.code.as_bytes(), out);
            encode_document(code.scope, collation, out, depth);
        }
    }
}

fn encode_document(
    document: &RawDocument,
    collation: Option<&Collation>,
    out: &mut Vec<u8>,
    depth: usize,
) {
    if depth >= MAX_DEPTH {
        return encode_bytes(document.as_bytes(), out);
    }
    for (name, value) in path::fields(document) {
        out.push(Class::of(value) as u8);
        encode_bytes(name, out);
        encode_body(value, collation, out, depth + 1);
    }
    out.push(0);
}

fn encode_array(array: &RawArray, collation: Option<&Collation>, out: &mut Vec<u8>, depth: usize) {
    if depth >= MAX_DEPTH {
        return encode_bytes(array.as_bytes(), out);
    }
    for value in path::elements(array) {
        out.push(Class::of(value) as u8);
        encode_body(value, collation, out, depth + 1);
    }
    out.push(0);
}

fn encode_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    if bytes.iter().all(|&byte| byte > 1) {
        out.extend_from_slice(bytes);
    } else {
        for &byte in bytes {
            if byte <= 1 {
                out.extend_from_slice(&[1, byte + 1]);
            } else {
                out.push(byte);
            }
        }
    }
    out.push(0);
}

/// The length of the body that [`encode_body`] wrote for a class.
fn body_len(class: u8, bytes: &[u8], mask: u8, depth: usize) -> Option<usize> {
    const MIN_KEY: u8 = Class::MinKey as u8;
    const UNDEFINED: u8 = Class::Undefined as u8;
    const NULL: u8 = Class::Null as u8;
    const NUMBER: u8 = Class::Number as u8;
    const STRING: u8 = Class::String as u8;
    const DOCUMENT: u8 = Class::Document as u8;
    const ARRAY: u8 = Class::Array as u8;
    const BINARY: u8 = Class::Binary as u8;
    const OBJECT_ID: u8 = Class::ObjectId as u8;
    const BOOLEAN: u8 = Class::Boolean as u8;
    const DATE_TIME: u8 = Class::DateTime as u8;
    const TIMESTAMP: u8 = Class::Timestamp as u8;
    const REGEX: u8 = Class::Regex as u8;
    const DB_POINTER: u8 = Class::DbPointer as u8;
    const CODE: u8 = Class::Code as u8;
    const CODE_WITH_SCOPE: u8 = Class::CodeWithScope as u8;
    const MAX_KEY: u8 = Class::MaxKey as u8;

    Some(match class {
        MIN_KEY | UNDEFINED | NULL | MAX_KEY => 0,
        NUMBER => Number::encoded_len(bytes, mask)?,
        STRING | CODE => bytes_len(bytes, mask)?,
        DOCUMENT => list_len(bytes, mask, true, depth)?,
        ARRAY => list_len(bytes, mask, false, depth)?,
        BINARY => {
            // The subtype comes after the length, which counts four bytes more for the old type.
            let old = *bytes.get(4)? ^ mask == 2;
            4 + 1 + length(bytes, mask)?.checked_sub(if old { 4 } else { 0 })?
        }
        OBJECT_ID => 12,
        BOOLEAN => 1,
        DATE_TIME | TIMESTAMP => 8,
        REGEX => {
            let pattern = bytes_len(bytes, mask)?;
            pattern + bytes_len(&bytes[pattern..], mask)?
        }
        DB_POINTER => 4 + length(bytes, mask)?,
        CODE_WITH_SCOPE => {
            let code = bytes_len(bytes, mask)?;
            code + list_len(&bytes[code..], mask, true, depth)?
        }
        _ => return None,
    })
}

fn list_len(bytes: &[u8], mask: u8, names: bool, depth: usize) -> Option<usize> {
    if depth >= MAX_DEPTH {
        return bytes_len(bytes, mask);
    }
    let mut at = 0;
    loop {
        let class = *bytes.get(at)? ^ mask;
        at += 1;
        if class == 0 {
            return Some(at);
        }
        if names {
            at += bytes_len(&bytes[at..], mask)?;
        }
        at += body_len(class, bytes.get(at..)?, mask, depth + 1)?;
    }
}

/// An escaped zero is not a zero, so the first zero is the end.
fn bytes_len(bytes: &[u8], mask: u8) -> Option<usize> {
    bytes
        .iter()
        .position(|&byte| byte ^ mask == 0)
        .map(|end| end + 1)
}

fn length(bytes: &[u8], mask: u8) -> Option<usize> {
    let bytes: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(bytes.map(|byte| byte ^ mask))).ok()
}

#[cfg(test)]
mod tests;
