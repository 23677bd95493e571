//! The lists in documents, and the values at a path.

use std::collections::BTreeMap;

use mongodb::bson::{RawBsonRef, RawDocument, RawDocumentBuf};

/// How deep lists are looked for.
const DEPTH: usize = 8;

/// The longest list at each path, through the lists around it.
#[derive(Default)]
pub(super) struct Lists(BTreeMap<String, LongestList>);

/// The longest list at a path, with the document that holds it.
pub(super) struct LongestList {
    len: usize,
    of: RawDocumentBuf,
}

impl LongestList {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn of(&self) -> &RawDocument {
        &self.of
    }
}

impl Lists {
    /// Adds the lists of a document.
    pub(super) fn add(&mut self, document: &RawDocument) {
        self.add_within(document, document, "", DEPTH);
    }

    fn add_within(&mut self, whole: &RawDocument, part: &RawDocument, path: &str, depth: usize) {
        for (name, value) in part.iter().flatten() {
            let nested = |name: &str| {
                if path.is_empty() {
                    name.to_owned()
                } else {
                    format!("{path}.{name}")
                }
            };
            match value {
                RawBsonRef::Document(inner) if depth > 0 => {
                    self.add_within(whole, inner, &nested(name.as_str()), depth - 1);
                }
                RawBsonRef::Array(list) => {
                    let path = nested(name.as_str());
                    let mut len = 0;
                    for element in list.into_iter().flatten() {
                        len += 1;
                        if let (RawBsonRef::Document(inner), true) = (element, depth > 0) {
                            self.add_within(whole, inner, &path, depth - 1);
                        }
                    }
                    self.add_list(path, len, whole);
                }
                _ => {}
            }
        }
    }

    fn add_list(&mut self, path: String, len: usize, whole: &RawDocument) {
        if self.0.get(&path).is_none_or(|longest| longest.len < len) {
            let of = whole.to_owned();
            self.0.insert(path, LongestList { len, of });
        }
    }

    pub(super) fn longest(&self) -> impl Iterator<Item = (&String, &LongestList)> {
        self.0.iter()
    }
}

/// Calls a function with the size of each value at a path, through lists.
pub(super) fn values_at(document: &RawDocument, path: &str, found: &mut impl FnMut(usize)) {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    if let Ok(Some(value)) = document.get(first) {
        match rest {
            None => found(size_of(value)),
            Some(rest) => within(value, rest, found),
        }
    }
}

fn within(value: RawBsonRef<'_>, rest: &str, found: &mut impl FnMut(usize)) {
    match value {
        RawBsonRef::Document(inner) => values_at(inner, rest, found),
        RawBsonRef::Array(list) => {
            for element in list.into_iter().flatten() {
                if let RawBsonRef::Document(inner) = element {
                    values_at(inner, rest, found);
                }
            }
        }
        _ => {}
    }
}

/// About how many bytes a value takes.
fn size_of(value: RawBsonRef<'_>) -> usize {
    match value {
        RawBsonRef::String(text) => text.len() + 5,
        RawBsonRef::Document(inner) => inner.as_bytes().len(),
        RawBsonRef::Array(list) => list.as_bytes().len(),
        RawBsonRef::Binary(binary) => binary.bytes.len() + 5,
        RawBsonRef::ObjectId(_) => 12,
        RawBsonRef::Decimal128(_) => 16,
        RawBsonRef::Boolean(_) => 1,
        RawBsonRef::Int32(_) => 4,
        _ => 8,
    }
}
