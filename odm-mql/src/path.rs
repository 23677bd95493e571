//! Dotted paths, and how MongoDB follows them through arrays.
//!
//! A part of a path is the name of a field or, in an array, the position of an element. At an array, the path continues in each element
//! that is a document.

mod field;
mod finder;
mod index;

use std::collections::HashSet;

use bson::{RawArray, RawBsonRef, RawDocument};

use crate::steps;
use crate::{Error, error::code};

pub use field::{elements, get, is_valid_beside};
pub(crate) use field::{fields, get_counted};
pub(super) use finder::FieldFinder;
pub use index::compound_index_values;
pub(super) use index::sort_values;

/// The greatest number of parts of a path.
const MAX_PARTS: usize = 200;

/// The values that a filter sees for an array at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Leaf {
    /// Each element, and then the array itself.
    Elements,
    /// The array itself.
    Whole,
}

/// The end of a path, or the first array on it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(hidden)]
pub enum Lookup<'a, 'p> {
    /// No value.
    Missing,
    /// A value that is not an array.
    Value(RawBsonRef<'a>),
    /// The path meets this array. The rest of the path is `None` if it ends there.
    Array(&'a RawArray, Option<&'p str>),
}

/// Splits a path into its first part and the rest.
#[inline]
#[doc(hidden)]
pub fn split(path: &str) -> (&str, Option<&str>) {
    match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    }
}

/// Whether two paths are equal, or one is a prefix of the other.
#[doc(hidden)]
pub fn overlap(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    long.starts_with(short) && matches!(long.as_bytes().get(short.len()), None | Some(b'.'))
}

/// The array position that a part of a path stands for.
#[doc(hidden)]
pub fn position(part: &str) -> Option<usize> {
    let canonical = part == "0" || !part.starts_with('0');
    let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (canonical && digits).then(|| part.parse().ok()).flatten()
}

/// Rejects paths with too many parts, or with a NUL.
#[doc(hidden)]
pub fn check(path: &str) -> Result<(), Error> {
    if path.contains('\0') {
        return Err(bad(path, "it contains a NUL", code::BAD_VALUE));
    }
    if path.split('.').count() > MAX_PARTS {
        return Err(bad(path, "it has too many parts", code::OVERFLOW));
    }
    Ok(())
}

/// Rejects paths that name no field in a sort or a projection: as [`check`] does, and if a part is empty
/// or begins with `$`.
#[doc(hidden)]
pub fn check_strictly(path: &str) -> Result<(), Error> {
    check(path)?;
    if path.is_empty() {
        return Err(bad(path, "it is empty", 40_352));
    }
    if path.ends_with('.') {
        return Err(bad(path, "it ends with a dot", 40_353));
    }
    for part in path.split('.') {
        if part.is_empty() {
            return Err(bad(path, "a part of it is empty", 15_998));
        }
        if part.starts_with('$') {
            return Err(bad(path, "a part of it begins with `$`", 16_410));
        }
    }
    Ok(())
}

pub(super) fn bad(path: &str, reason: &'static str, code: i32) -> Error {
    Error::BadPath {
        path: path.to_owned(),
        reason,
        code,
    }
}

/// Whether two documents have the same values at a path, in the same places. If so, everything that depends on these values alone is the
/// same: index entries, references. The result may be `false` for values that are the same.
#[doc(hidden)]
pub fn is_same(a: &RawDocument, b: &RawDocument, path: &str) -> bool {
    let (name, rest) = split(path);
    match (get(a, name), get(b, name)) {
        (Some(RawBsonRef::Array(a)), Some(RawBsonRef::Array(b))) => {
            a.as_bytes() == b.as_bytes() || rest.is_some_and(|rest| is_same_in_elements(a, b, rest))
        }
        (Some(a), Some(b)) => is_same_value(a, b, rest),
        (a, b) => a.is_none() && b.is_none(),
    }
}

fn is_same_in_elements(a: &RawArray, b: &RawArray, path: &str) -> bool {
    // A position selects the elements themselves.
    if position(split(path).0).is_some() {
        return false;
    }
    let (mut a, mut b) = (elements(a), elements(b));
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if is_same_value(a, b, Some(path)) => {}
            _ => return false,
        }
    }
}

fn is_same_value(a: RawBsonRef<'_>, b: RawBsonRef<'_>, rest: Option<&str>) -> bool {
    match (a, b, rest) {
        (RawBsonRef::Document(a), RawBsonRef::Document(b), Some(rest)) => {
            a.as_bytes() == b.as_bytes() || is_same(a, b, rest)
        }
        // Two zeros are equal, and not the same.
        (RawBsonRef::Double(a), RawBsonRef::Double(b), _) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// Follows a path up to the first array.
#[doc(hidden)]
pub fn lookup<'a, 'p>(document: &'a RawDocument, path: &'p str) -> Lookup<'a, 'p> {
    let (name, rest) = split(path);
    lookup_from(get(document, name), rest)
}

/// Follows the rest of a path from the value at its first part.
pub(super) fn lookup_from<'a, 'p>(
    value: Option<RawBsonRef<'a>>,
    rest: Option<&'p str>,
) -> Lookup<'a, 'p> {
    let (mut value, mut rest) = (value, rest);
    loop {
        match (value, rest) {
            (None, _) => return Lookup::Missing,
            (Some(RawBsonRef::Array(array)), rest) => return Lookup::Array(array, rest),
            (Some(value), None) => return Lookup::Value(value),
            (Some(RawBsonRef::Document(inner)), Some(path)) => {
                let (name, after) = split(path);
                (value, rest) = (get(inner, name), after);
            }
            (Some(_), Some(_)) => return Lookup::Missing,
        }
    }
}

/// Calls `test` with each value that a filter sees at a path, with `None` where the value is missing,
/// until the test succeeds. Returns whether it did.
///
/// An array at the end is treated as `leaf` says, unless the path names its position in another array: then it is only seen as a whole. An
/// array in the middle of the path without documents in it gives no value, not even a missing one.
#[doc(hidden)]
pub fn visit<'a, F>(document: &'a RawDocument, path: &str, leaf: Leaf, test: &mut F) -> bool
where
    F: FnMut(Option<RawBsonRef<'a>>) -> bool,
{
    Visitor::new(leaf, &mut |value, _| test(value)).document(document, path, None)
}

/// Calls `each` with each value at a path, or, if an array is at its end, with each element, one level deep. Skips a missing value.
#[doc(hidden)]
pub fn each_value<'a>(
    document: &'a RawDocument,
    path: &str,
    each: &mut impl FnMut(RawBsonRef<'a>),
) {
    visit(document, path, Leaf::Whole, &mut |value| {
        match value {
            None => {}
            Some(RawBsonRef::Array(array)) => elements(array).for_each(&mut *each),
            Some(value) => each(value),
        }
        false
    });
}

/// The same as [`visit`], with the position in the first array that the path enters, if there is one.
pub(super) fn visit_at<'a, F>(
    document: &'a RawDocument,
    path: &str,
    leaf: Leaf,
    test: &mut F,
) -> bool
where
    F: FnMut(Option<RawBsonRef<'a>>, Option<usize>) -> bool,
{
    Visitor::new(leaf, test).document(document, path, None)
}

/// A visit of the values at a path.
struct Visitor<'t, F> {
    leaf: Leaf,
    test: &'t mut F,
    /// The arrays within arrays in which a position was looked up, with the length of the rest of the path.
    ///
    /// A number is a position, and also the name of a field of an element. So several ways may lead to one array, and twice as many to an
    /// array in it: only the first way finds new values.
    seen: HashSet<(*const u8, usize)>,
}

impl<'t, F> Visitor<'t, F> {
    fn new(leaf: Leaf, test: &'t mut F) -> Self {
        Visitor {
            leaf,
            test,
            seen: HashSet::new(),
        }
    }

    fn document<'a>(&mut self, document: &'a RawDocument, path: &str, outer: Option<usize>) -> bool
    where
        F: FnMut(Option<RawBsonRef<'a>>, Option<usize>) -> bool,
    {
        let (mut document, mut path) = (document, path);
        loop {
            steps::step();
            let (name, rest) = split(path);
            return match (get(document, name), rest) {
                (None, _) => (self.test)(None, outer),
                (Some(RawBsonRef::Document(inner)), Some(rest)) => {
                    (document, path) = (inner, rest);
                    continue;
                }
                (Some(RawBsonRef::Array(array)), Some(rest)) => self.array(array, rest, outer),
                (Some(_), Some(_)) => (self.test)(None, outer),
                (Some(value @ RawBsonRef::Array(array)), None) if self.leaf == Leaf::Elements => {
                    let mut elements = elements(array).enumerate();
                    elements.any(|(at, element)| (self.test)(Some(element), outer.or(Some(at))))
                        || (self.test)(Some(value), outer)
                }
                (Some(value), None) => (self.test)(Some(value), outer),
            };
        }
    }

    fn array<'a>(&mut self, array: &'a RawArray, path: &str, outer: Option<usize>) -> bool
    where
        F: FnMut(Option<RawBsonRef<'a>>, Option<usize>) -> bool,
    {
        let (name, rest) = split(path);
        let position = position(name);
        if position.is_some()
            && outer.is_some()
            && !self.seen.insert((array.as_bytes().as_ptr(), path.len()))
        {
            return false;
        }
        elements(array).enumerate().any(|(at, element)| {
            steps::step();
            if let RawBsonRef::Document(document) = element
                && self.document(document, path, outer.or(Some(at)))
            {
                return true;
            }
            position == Some(at)
                && match (element, rest) {
                    (element, None) => (self.test)(Some(element), outer),
                    (RawBsonRef::Document(document), Some(rest)) => {
                        self.document(document, rest, outer)
                    }
                    (RawBsonRef::Array(inner), Some(rest)) => self.array(inner, rest, outer),
                    _ => false,
                }
        })
    }
}

#[cfg(test)]
mod tests;
