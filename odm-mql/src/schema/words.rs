//! Paths and values in words for people.

use std::fmt;

use bson::RawBsonRef;

use crate::show;

/// The longest text of a value in a message, in characters.
const MAX_SHOWN: usize = 80;

/// A path. Each part is held by the call that visits it.
#[derive(Clone, Copy)]
pub(super) enum Path<'p> {
    Root,
    Field(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part: &dyn fmt::Display = match self {
            Path::Root => return Ok(()),
            Path::Field(_, "") => &"\"\"",
            Path::Field(_, name) => name,
            Path::Item(_, position) => position,
        };
        match self {
            Path::Field(Path::Root, _) | Path::Item(Path::Root, _) => part.fmt(f),
            Path::Field(parent, _) | Path::Item(parent, _) => write!(f, "{parent}.{part}"),
            Path::Root => Ok(()),
        }
    }
}

/// A value, cut if it is long.
pub(super) fn shown(value: RawBsonRef<'_>) -> String {
    let text = match value {
        // Only the shown characters are examined.
        RawBsonRef::String(text) if text.len() > 4 * MAX_SHOWN => {
            let start: String = text.chars().take(MAX_SHOWN).collect();
            return format!("{start:?}...");
        }
        RawBsonRef::String(text) => format!("{text:?}"),
        RawBsonRef::Double(value) => format!("{value:?}"),
        RawBsonRef::DateTime(date) => match date.try_to_rfc3339_string() {
            Ok(text) => text,
            Err(_) => format!("{} ms since 1970", date.timestamp_millis()),
        },
        RawBsonRef::ObjectId(id) => id.to_hex(),
        RawBsonRef::Document(document) if document.as_bytes().len() > 1024 => {
            return "a large object".to_owned();
        }
        RawBsonRef::Array(array) if array.as_bytes().len() > 1024 => {
            return "a large array".to_owned();
        }
        value => show(value),
    };
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Names, with `or` before the last.
pub(super) fn or(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// A number of things.
pub(super) fn count(number: u64, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}
