//! The field of a document by its name, and all fields of a document or an array, from the bytes.

use bson::{DateTime, RawArray, RawBsonRef, RawDocument, oid::ObjectId, raw::RawIter};

use crate::steps;

/// A field of a document by its name. A field that cannot be read counts as missing.
///
/// The fields before it are only skipped, and not validated as by `bson`.
#[inline]
#[doc(hidden)]
pub fn get<'a>(document: &'a RawDocument, name: &str) -> Option<RawBsonRef<'a>> {
    get_counted(document, name, &mut 0)
}

/// The same, which adds the fields that it reads to the fields that were read.
#[inline]
pub(crate) fn get_counted<'a>(
    document: &'a RawDocument,
    name: &str,
    read: &mut u64,
) -> Option<RawBsonRef<'a>> {
    match find(document.as_bytes(), name.as_bytes(), read) {
        Some(found) => found,
        None => get_slowly(document, name, read),
    }
}

/// Finds any value that `bson` can read.
#[cold]
pub(super) fn get_slowly<'a>(
    document: &'a RawDocument,
    name: &str,
    read: &mut u64,
) -> Option<RawBsonRef<'a>> {
    document
        .iter_elements()
        .flatten()
        .inspect(|_| *read = read.saturating_add(1))
        .find(|element| element.key().as_str() == name)
        .and_then(|element| element.value().ok())
}

/// The value of a field, which may be missing. `None` if the bytes have an uncommon type or form, so that `bson` must read them.
fn find<'a>(document: &'a [u8], name: &[u8], read: &mut u64) -> Option<Option<RawBsonRef<'a>>> {
    let mut rest = document.get(4..)?;
    loop {
        *read = read.saturating_add(1);
        let Some(field) = RawField::first_of(&mut rest)? else {
            return Some(None);
        };
        if *field.name == *name {
            return field.read().map(Some);
        }
        // An invalid name before the field is an error for `bson`.
        if !field.name.is_ascii() {
            return None;
        }
    }
}

/// The bytes of a field of a document, or of an element of an array.
struct RawField<'a> {
    kind: u8,
    name: &'a [u8],
    value: &'a [u8],
}

impl<'a> RawField<'a> {
    /// Takes the first of some fields, or is `None` within at their end. `None` outside if `bson` must read them.
    #[inline]
    fn first_of(fields: &mut &'a [u8]) -> Option<Option<RawField<'a>>> {
        steps::step();
        let (&kind, after) = fields.split_first()?;
        if kind == 0 {
            return after.is_empty().then_some(None);
        }
        let name = after.iter().position(|&byte| byte == 0)?;
        let (name, value) = after.split_at(name);
        let value = &value[1..];
        let (value, rest) = value.split_at_checked(len(kind, value)?)?;
        *fields = rest;
        Some(Some(RawField { kind, name, value }))
    }

    /// The value, if it has a common type.
    #[inline]
    fn read(&self) -> Option<RawBsonRef<'a>> {
        read(self.kind, self.value)
    }

    /// The value, if it is a document or an array. An array is a document whose names are positions.
    fn inner(&self) -> Option<&'a RawDocument> {
        let is_inner = matches!(self.kind, 0x03 | 0x04);
        is_inner.then(|| RawDocument::from_bytes(self.value).ok())?
    }
}

/// The elements of an array, except unreadable ones.
#[doc(hidden)]
pub fn elements(array: &RawArray) -> impl Iterator<Item = RawBsonRef<'_>> {
    Fields::of(array.as_bytes()).map(|(_, value)| value)
}

/// The names and values of the fields of a document. A field that cannot be read is left out.
pub(crate) fn fields(document: &RawDocument) -> impl Iterator<Item = (&[u8], RawBsonRef<'_>)> {
    Fields::of(document.as_bytes())
}

/// The fields of a document, or the elements of an array, that were not read yet.
struct Fields<'a> {
    all: &'a [u8],
    rest: &'a [u8],
    read: usize,
    /// The same fields, from one on whose bytes have an uncommon type or form.
    slow: Option<RawIter<'a>>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a [u8], RawBsonRef<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.slow.is_none() {
            if let Some(field) = self.read() {
                return field;
            }
            self.read_slowly();
        }
        self.slow.as_mut()?.flatten().find_map(|field| {
            let value = field.value().ok()?;
            Some((field.key().as_str().as_bytes(), value))
        })
    }
}

impl<'a> Fields<'a> {
    fn of(all: &'a [u8]) -> Fields<'a> {
        Fields {
            all,
            rest: all.get(4..).unwrap_or_default(),
            read: 0,
            slow: None,
        }
    }

    /// The next field, if there is one. `None` if `bson` must read it.
    #[inline]
    fn read(&mut self) -> Option<Option<(&'a [u8], RawBsonRef<'a>)>> {
        let Some(field) = RawField::first_of(&mut self.rest)? else {
            return Some(None);
        };
        // An invalid name is an error for `bson`.
        let value = field.name.is_ascii().then(|| field.read())??;
        self.read += 1;
        Some(Some((field.name, value)))
    }

    #[cold]
    fn read_slowly(&mut self) {
        let slow = RawDocument::from_bytes(self.all).ok();
        self.slow = slow.map(|all| {
            let mut slow = all.iter_elements();
            if let Some(last) = self.read.checked_sub(1) {
                slow.nth(last);
            }
            slow
        });
    }
}

/// Whether a document is valid BSON, and nested no deeper than another one, which is known to be valid. What both have in the same place is
/// not read again. `false` does not mean that it is invalid: `bson` must read it then.
#[doc(hidden)]
pub fn is_valid_beside(document: &RawDocument, valid: &RawDocument) -> bool {
    fn is_valid(document: &RawDocument, valid: &RawDocument) -> Option<()> {
        let mut fields = document.as_bytes().get(4..)?;
        let mut known = valid.as_bytes().get(4..)?;
        while let Some(field) = RawField::first_of(&mut fields)? {
            let same = RawField::first_of(&mut known).flatten();
            let same = same.filter(|same| same.kind == field.kind && same.name == field.name);
            match (same, field.inner()) {
                (Some(same), _) if same.value == field.value => {}
                (Some(same), Some(inner)) => is_valid(inner, same.inner()?)?,
                (None, Some(_)) => return None,
                (_, None) => {
                    field.read()?;
                    str::from_utf8(field.name).ok()?;
                }
            }
        }
        Some(())
    }
    is_valid(document, valid).is_some()
}

/// The number of bytes of a value.
#[inline]
pub(super) fn len(kind: u8, value: &[u8]) -> Option<usize> {
    let prefix = || {
        let prefix = value.first_chunk::<4>()?;
        usize::try_from(i32::from_le_bytes(*prefix)).ok()
    };
    Some(match kind {
        0x01 | 0x09 | 0x11 | 0x12 => 8,
        // A string without its end is an error for `bson`, even if it is skipped.
        0x02 => {
            let len = prefix().filter(|len| *len >= 1)?.checked_add(4)?;
            (value.get(len - 1) == Some(&0)).then_some(len)?
        }
        0x03 | 0x04 => prefix().filter(|len| *len >= 5 && value.get(len - 1) == Some(&0))?,
        0x05 => prefix()?.checked_add(5)?,
        0x07 => 12,
        0x08 => 1,
        0x0a => 0,
        0x10 => 4,
        0x13 => 16,
        _ => return None,
    })
}

/// A value of a common type.
#[inline]
pub(super) fn read(kind: u8, value: &[u8]) -> Option<RawBsonRef<'_>> {
    Some(match kind {
        0x01 => RawBsonRef::Double(f64::from_le_bytes(value.try_into().ok()?)),
        0x02 => {
            let (end, text) = value.get(4..)?.split_last()?;
            RawBsonRef::String(str::from_utf8(text).ok().filter(|_| *end == 0)?)
        }
        0x03 => RawBsonRef::Document(RawDocument::from_bytes(value).ok()?),
        0x07 => RawBsonRef::ObjectId(ObjectId::from_bytes(value.try_into().ok()?)),
        0x08 if value[0] <= 1 => RawBsonRef::Boolean(value[0] == 1),
        0x09 => {
            let millis = i64::from_le_bytes(value.try_into().ok()?);
            RawBsonRef::DateTime(DateTime::from_millis(millis))
        }
        0x0a => RawBsonRef::Null,
        0x10 => RawBsonRef::Int32(i32::from_le_bytes(value.try_into().ok()?)),
        0x12 => RawBsonRef::Int64(i64::from_le_bytes(value.try_into().ok()?)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use bson::{Bson, Document, RawDocumentBuf, doc};
    use proptest::prelude::*;

    use super::*;
    use crate::testing::value;

    fn document() -> impl Strategy<Value = RawDocumentBuf> {
        let fields = prop::collection::vec(("[abä]{0,2}", value()), 0..6);
        fields.prop_map(|fields| {
            let document: Document = fields.into_iter().collect();
            RawDocumentBuf::try_from(document).expect("valid BSON")
        })
    }

    #[test]
    fn a_field_after_one_of_each_common_type_is_found_without_bson() {
        let binary = |bytes: &[u8]| bson::Binary {
            subtype: bson::spec::BinarySubtype::Generic,
            bytes: bytes.to_vec(),
        };
        let values: [Bson; 15] = [
            1.5.into(),
            "text".into(),
            doc! { "x": 1 }.into(),
            Bson::Array(vec![1.into()]),
            binary(&[]).into(),
            binary(&[7, 0]).into(),
            ObjectId::new().into(),
            true.into(),
            DateTime::now().into(),
            Bson::Null,
            7_i32.into(),
            bson::Timestamp {
                time: 1,
                increment: 0,
            }
            .into(),
            7_i64.into(),
            Bson::Decimal128("1.5".parse().expect("a decimal")),
            "".into(),
        ];
        for value in values {
            let document = doc! { "before": value.clone(), "x": "found" };
            let document = RawDocumentBuf::try_from(document).expect("valid BSON");
            let found = find(document.as_bytes(), b"x", &mut 0);
            assert_eq!(found, Some(Some(RawBsonRef::String("found"))), "{value}");
            assert_eq!(find(document.as_bytes(), b"y", &mut 0), Some(None));
            assert_eq!(
                get(&document, "before"),
                get_slowly(&document, "before", &mut 0)
            );
        }
    }

    #[test]
    fn elements_of_common_types_are_read_without_bson() {
        let values = [
            Bson::from("text"),
            doc! { "x": 1 }.into(),
            1.into(),
            Bson::Null,
        ];
        let mut document = doc! { "a": values.to_vec() };
        let of = |document: &Document| {
            let document = RawDocumentBuf::try_from(document).expect("valid BSON");
            let Some(RawBsonRef::Array(array)) = get(&document, "a") else {
                panic!("no array: {document:?}");
            };
            let mut elements = Fields::of(array.as_bytes());
            let read: Vec<Bson> = elements
                .by_ref()
                .map(|(_, element)| element.try_into().expect("valid BSON"))
                .collect();
            (read, elements.slow.is_none())
        };
        assert_eq!(of(&document), (values.to_vec(), true));
        // An uncommon type, and all after it, are read by `bson`.
        let more = [values.to_vec(), vec![Bson::MaxKey, 2.into()]].concat();
        document.insert("a", more.clone());
        assert_eq!(of(&document), (more, false));
    }

    #[test]
    fn a_document_is_valid_beside_one_with_the_same_structure() {
        let valid = doc! { "a": [{ "n": 1, "t": "text" }, { "n": 2 }], "b": { "c": 1 }, "d": 1 };
        let is_valid = |other: Document| {
            let [valid, other] = [valid.clone(), other]
                .map(|document| RawDocumentBuf::try_from(document).expect("valid BSON"));
            is_valid_beside(&other, &valid)
        };
        let mut changed = valid.clone();
        changed.insert("d", "another");
        changed.insert(
            "a",
            vec![doc! { "n": 1, "t": "other" }, doc! { "n": 3, "more": true }],
        );
        assert!(is_valid(changed.clone()));
        // Whatever is new and may be nested, and uncommon types.
        changed.insert("b", doc! { "c": { "new": 1 } });
        assert!(!is_valid(changed.clone()));
        changed.insert("b", Bson::MaxKey);
        assert!(!is_valid(changed.clone()));
        changed.remove("b");
        assert!(is_valid(changed));
    }

    #[test]
    fn a_field_after_a_document_without_its_end_is_not_found() {
        let document = doc! { "before": { "a": 1 }, "x": 1 };
        let mut bytes = RawDocumentBuf::try_from(document)
            .expect("valid BSON")
            .into_bytes();
        let end = 4 + 1 + "before".len() + 1 + 12 - 1;
        assert_eq!(bytes[end], 0);
        bytes[end] = 1;
        let document = RawDocument::from_bytes(&bytes).expect("a whole document");
        assert_eq!(get(document, "x"), get_slowly(document, "x", &mut 0));
        assert_eq!(get(document, "x"), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_field_is_found_as_bson_finds_it(
            document in document(),
            name in "[abä]{0,2}",
            damaged in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            let mut bytes = document.into_bytes();
            if let Some((at, byte)) = damaged {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            // Only whole documents are read: the length and the end are right.
            if let Ok(document) = RawDocument::from_bytes(&bytes) {
                let (fast, slow) = (get(document, &name), get_slowly(document, &name, &mut 0));
                prop_assert_eq!(format!("{fast:?}"), format!("{slow:?}"));
            }
        }

        #[test]
        fn a_document_that_bson_cannot_read_is_not_valid_beside_any(
            document in document(),
            valid in document(),
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            beside_itself in any::<bool>(),
        ) {
            let valid = if beside_itself { &document } else { &valid };
            let mut bytes = document.as_bytes().to_vec();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Ok(damaged) = RawDocument::from_bytes(&bytes)
                && is_valid_beside(damaged, valid)
            {
                let read = bson::deserialize_from_slice::<Document>(damaged.as_bytes());
                prop_assert!(read.is_ok(), "{read:?}: {damaged:?}");
            }
        }

        #[test]
        fn elements_are_read_as_bson_reads_them(
            values in prop::collection::vec(value(), 0..6),
            damaged in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            let document = RawDocumentBuf::try_from(doc! { "a": values }).expect("valid BSON");
            let mut bytes = document.into_bytes();
            if let Some((at, byte)) = damaged {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Ok(document) = RawDocument::from_bytes(&bytes)
                && let Some(RawBsonRef::Array(array)) = get(document, "a")
            {
                let fast: Vec<_> = elements(array).collect();
                let slow: Vec<_> = array.into_iter().flatten().collect();
                prop_assert_eq!(format!("{fast:?}"), format!("{slow:?}"));
            }
        }

        #[test]
        fn fields_are_read_as_bson_reads_them(
            document in document(),
            damaged in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            let mut bytes = document.into_bytes();
            if let Some((at, byte)) = damaged {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Ok(document) = RawDocument::from_bytes(&bytes) {
                let fast: Vec<_> = fields(document).collect();
                let slow = document.iter().flatten();
                let slow: Vec<_> = slow.map(|(name, value)| (name.as_str().as_bytes(), value)).collect();
                prop_assert_eq!(format!("{fast:?}"), format!("{slow:?}"));
            }
        }
    }
}
