//! The changes of an update, as MongoDB describes them.

use std::collections::HashMap;

use odm::bson::{
    RawArray, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf,
    raw::{CString, cstr},
    rawdoc,
};

use crate::error::Result;

/// The differences of two images of a document.
#[derive(Debug, Default)]
struct Difference {
    updated: RawDocumentBuf,
    removed: RawArrayBuf,
    truncated: RawArrayBuf,
}

/// `{ updatedFields, removedFields, truncatedArrays }`.
pub(super) fn describe(before: &RawDocument, after: &RawDocument) -> Result<RawDocumentBuf> {
    let mut difference = Difference::default();
    difference.documents("", before, after)?;
    let mut described = RawDocumentBuf::new();
    described.append(cstr!("updatedFields"), difference.updated);
    described.append(cstr!("removedFields"), difference.removed);
    described.append(cstr!("truncatedArrays"), difference.truncated);
    Ok(described)
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

impl Difference {
    // The recursion is as deep as stored documents, which have a limit.
    fn documents(&mut self, path: &str, before: &RawDocument, after: &RawDocument) -> Result<()> {
        let mut earlier = HashMap::new();
        for field in before {
            let (name, value) = field?;
            earlier.insert(name.as_str(), value);
        }
        for field in after {
            let (name, value) = field?;
            let path = joined(path, name.as_str());
            match earlier.remove(name.as_str()) {
                None => self.set(path, value),
                Some(before) => self.values(path, before, value)?,
            }
        }
        for field in before {
            let (name, _) = field?;
            if earlier.contains_key(name.as_str()) {
                self.removed.push(joined(path, name.as_str()));
            }
        }
        Ok(())
    }

    fn values(
        &mut self,
        path: String,
        before: RawBsonRef<'_>,
        after: RawBsonRef<'_>,
    ) -> Result<()> {
        match (before, after) {
            (before, after) if is_same(before, after) => {}
            (RawBsonRef::Document(before), RawBsonRef::Document(after))
                if has_same_order(before, after)? =>
            {
                self.documents(&path, before, after)?;
            }
            (RawBsonRef::Array(before), RawBsonRef::Array(after)) => {
                self.arrays(path, before, after)?;
            }
            (_, after) => self.set(path, after),
        }
        Ok(())
    }

    /// Describes the changed elements, unless the array has moved, so that most have.
    fn arrays(&mut self, path: String, before: &RawArray, after: &RawArray) -> Result<()> {
        let elements = |array: &'_ RawArray| -> Result<usize> {
            array.into_iter().try_fold(0_usize, |number, element| {
                element?;
                Ok(number.saturating_add(1))
            })
        };
        let (old_size, size) = (elements(before)?, elements(after)?);
        let mut changed = 0_usize;
        for (before, after) in before.into_iter().zip(after) {
            changed = changed.saturating_add(usize::from(!is_same(before?, after?)));
        }
        if changed > old_size.min(size).div_ceil(2) || size == 0 {
            self.set(path, RawBsonRef::Array(after));
            return Ok(());
        }
        if size < old_size {
            let size = i32::try_from(size).unwrap_or(i32::MAX);
            let truncated = rawdoc! { "field": path.as_str(), "newSize": size };
            self.truncated.push(truncated);
        }
        let mut old = before.into_iter();
        for (at, element) in after.into_iter().enumerate() {
            let path = joined(&path, &at.to_string());
            match old.next() {
                Some(before) => self.values(path, before?, element?)?,
                None => self.set(path, element?),
            }
        }
        Ok(())
    }

    fn set(&mut self, path: String, value: RawBsonRef<'_>) {
        if let Ok(path) = CString::try_from(path) {
            self.updated.append(path, value);
        }
    }
}

/// Whether two values have the same bytes: numbers that are equal may be different, and one that is no number is the same as itself.
fn is_same(one: RawBsonRef<'_>, other: RawBsonRef<'_>) -> bool {
    match (one, other) {
        (RawBsonRef::Double(one), RawBsonRef::Double(other)) => one.to_bits() == other.to_bits(),
        (one, other) => one == other,
    }
}

/// Whether the fields that both have are in the same order, and new ones behind them, so that the fields tell the whole difference.
fn has_same_order(before: &RawDocument, after: &RawDocument) -> Result<bool> {
    let names = |document: &RawDocument| -> Result<Vec<String>> {
        let names = document
            .into_iter()
            .map(|field| Ok(field?.0.as_str().to_owned()));
        names.collect()
    };
    let (mut old, new) = (names(before)?, names(after)?);
    let is_left: std::collections::HashSet<&String> = new.iter().collect();
    old.retain(|name| is_left.contains(name));
    Ok(new.starts_with(&old))
}

#[cfg(test)]
mod tests {
    use odm::bson::{Document, doc};

    use super::*;

    fn described(before: Document, after: Document) -> Document {
        let raw = |document: &Document| RawDocumentBuf::try_from(document).unwrap();
        Document::try_from(describe(&raw(&before), &raw(&after)).unwrap()).unwrap()
    }

    #[test]
    fn fields_are_named_by_their_paths_and_arrays_by_what_has_changed_in_them() {
        let before = doc! { "_id": 1, "a": 1, "b": { "c": 1, "d": 2 }, "e": [1, 2, 3, 4], "f": 5, "g": [{ "h": 1 }, 2] };
        let after = doc! { "_id": 1, "a": 1_i64, "b": { "c": 1 }, "e": [1, 2, 9], "g": [{ "h": 2 }, 2, 3], "i": { "j": 1 } };
        assert_eq!(
            described(before, after),
            doc! {
                "updatedFields": { "a": 1_i64, "e.2": 9, "g.0.h": 2, "g.2": 3, "i": { "j": 1 } },
                "removedFields": ["b.d", "f"],
                "truncatedArrays": [{ "field": "e", "newSize": 3 }],
            }
        );
    }

    #[test]
    fn numbers_are_different_if_their_bytes_are() {
        let before = doc! { "a": f64::NAN, "b": 0.0, "c": [f64::NAN, 0.0, 1.0] };
        let after = doc! { "a": f64::NAN, "b": -0.0, "c": [f64::NAN, -0.0, 1.0] };
        let found = described(before, after);
        let updated = found.get_document("updatedFields").unwrap();
        assert!(updated.keys().eq(["b", "c.1"]));
        assert!(
            updated
                .values()
                .all(|value| value.as_f64().unwrap().is_sign_negative())
        );
    }

    #[test]
    fn an_array_that_has_moved_and_a_document_in_another_order_are_set_whole() {
        let before = doc! { "a": [1, 2, 3, 4], "b": { "c": 1, "d": 1 }, "e": [1] };
        let after = doc! { "a": [2, 3, 4, 5], "b": { "d": 1, "c": 1 }, "e": [] };
        let set = doc! { "a": [2, 3, 4, 5], "b": { "d": 1, "c": 1 }, "e": [] };
        let expected = doc! { "updatedFields": set, "removedFields": [], "truncatedArrays": [] };
        assert_eq!(described(before, after), expected);
    }
}
