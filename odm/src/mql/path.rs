//! Dotted paths, and how MongoDB follows them through arrays.
//!
//! A part of a path is the name of a field or, in an array, the position of an element. Where a
//! path meets an array, it goes on in each element that is a document.

mod index;

use bson::{RawArray, RawBsonRef, RawDocument};

use crate::mql::Error;

pub(super) use index::sort_values;
pub use index::{CompoundIndexValues, IndexValues, compound_index_values, index_values};

/// How many parts a path may have.
const MAX_PARTS: usize = 200;

/// What a filter sees of an array at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// Each element, and then the array itself.
    Elements,
    /// The array itself.
    Whole,
}

/// What is at the end of a path that meets no array before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lookup<'a, 'p> {
    /// Nothing.
    Missing,
    /// A value that is not an array.
    Value(RawBsonRef<'a>),
    /// The path meets this array; the rest of the path is none if it ends there.
    Array(&'a RawArray, Option<&'p str>),
}

/// Splits a path into its first part and the rest.
#[inline]
pub fn split(path: &str) -> (&str, Option<&str>) {
    match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    }
}

/// Whether one path is the other, or leads to a part of what the other leads to.
pub fn overlap(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    long.starts_with(short) && matches!(long.as_bytes().get(short.len()), None | Some(b'.'))
}

/// The position that a part of a path means in an array.
pub fn position(part: &str) -> Option<usize> {
    let canonical = part == "0" || !part.starts_with('0');
    let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (canonical && digits).then(|| part.parse().ok()).flatten()
}

/// Looks for what no query can reach: a path with too many parts, or with a NUL in it.
pub fn check(path: &str) -> Result<(), Error> {
    let reason = if path.contains('\0') {
        "it contains a NUL"
    } else if path.split('.').count() > MAX_PARTS {
        "it has too many parts"
    } else {
        return Ok(());
    };
    Err(Error::BadPath {
        path: path.to_owned(),
        reason,
    })
}

/// Looks for what is no path of a field: besides what [`check`] finds, a part that is empty.
pub fn check_strictly(path: &str) -> Result<(), Error> {
    check(path)?;
    if path.split('.').any(str::is_empty) {
        return Err(Error::BadPath {
            path: path.to_owned(),
            reason: "a part of it is empty",
        });
    }
    Ok(())
}

/// A field of a document by its name. One that cannot be read counts as absent.
#[inline]
pub fn get<'a>(document: &'a RawDocument, name: &str) -> Option<RawBsonRef<'a>> {
    document
        .iter_elements()
        .flatten()
        .find(|element| element.key().as_str() == name)
        .and_then(|element| element.value().ok())
}

/// Follows a path as far as it meets no array.
pub fn lookup<'a, 'p>(document: &'a RawDocument, path: &'p str) -> Lookup<'a, 'p> {
    let (mut document, mut path) = (document, path);
    loop {
        let (name, rest) = split(path);
        match (get(document, name), rest) {
            (None, _) => return Lookup::Missing,
            (Some(RawBsonRef::Array(array)), rest) => return Lookup::Array(array, rest),
            (Some(value), None) => return Lookup::Value(value),
            (Some(RawBsonRef::Document(inner)), Some(rest)) => (document, path) = (inner, rest),
            (Some(_), Some(_)) => return Lookup::Missing,
        }
    }
}

/// Calls `test` with each value that a filter sees at a path, with none for each place where it is
/// missing, until the test succeeds. Returns whether it did.
///
/// An array at the end counts as `leaf` says, unless the path names its position in another array:
/// then it is only seen as a whole. An array on the way whose elements are not documents is seen as
/// nothing at all, not even as missing.
pub fn visit<'a, F>(document: &'a RawDocument, path: &str, leaf: Leaf, test: &mut F) -> bool
where
    F: FnMut(Option<RawBsonRef<'a>>) -> bool,
{
    let (mut document, mut path) = (document, path);
    loop {
        let (name, rest) = split(path);
        return match (get(document, name), rest) {
            (None, _) => test(None),
            (Some(RawBsonRef::Document(inner)), Some(rest)) => {
                (document, path) = (inner, rest);
                continue;
            }
            (Some(RawBsonRef::Array(array)), Some(rest)) => visit_array(array, rest, leaf, test),
            (Some(_), Some(_)) => test(None),
            (Some(value @ RawBsonRef::Array(array)), None) if leaf == Leaf::Elements => {
                array
                    .into_iter()
                    .flatten()
                    .any(|element| test(Some(element)))
                    || test(Some(value))
            }
            (Some(value), None) => test(Some(value)),
        };
    }
}

fn visit_array<'a, F>(array: &'a RawArray, path: &str, leaf: Leaf, test: &mut F) -> bool
where
    F: FnMut(Option<RawBsonRef<'a>>) -> bool,
{
    let (name, rest) = split(path);
    let position = position(name);
    array
        .into_iter()
        .flatten()
        .enumerate()
        .any(|(at, element)| {
            if let RawBsonRef::Document(document) = element
                && visit(document, path, leaf, test)
            {
                return true;
            }
            position == Some(at)
                && match (element, rest) {
                    (element, None) => test(Some(element)),
                    (RawBsonRef::Document(document), Some(rest)) => {
                        visit(document, rest, leaf, test)
                    }
                    (RawBsonRef::Array(inner), Some(rest)) => visit_array(inner, rest, leaf, test),
                    _ => false,
                }
        })
}

#[cfg(test)]
mod tests;
