//! The field of a document by its name, from the bytes.

use bson::{DateTime, RawBsonRef, RawDocument, oid::ObjectId};

use crate::steps;

/// A field of a document by its name. A field that cannot be read counts as missing.
///
/// The fields before it are only skipped, and not validated as by `bson`.
#[inline]
#[doc(hidden)]
pub fn get<'a>(document: &'a RawDocument, name: &str) -> Option<RawBsonRef<'a>> {
    match find(document.as_bytes(), name.as_bytes()) {
        Some(found) => found,
        None => get_slowly(document, name),
    }
}

/// Finds any value that `bson` can read.
#[cold]
fn get_slowly<'a>(document: &'a RawDocument, name: &str) -> Option<RawBsonRef<'a>> {
    document
        .iter_elements()
        .flatten()
        .find(|element| element.key().as_str() == name)
        .and_then(|element| element.value().ok())
}

/// The value of a field, which may be missing. `None` if the bytes have an uncommon type or form, so that `bson` must read them.
fn find<'a>(document: &'a [u8], name: &[u8]) -> Option<Option<RawBsonRef<'a>>> {
    let mut rest = document.get(4..)?;
    loop {
        steps::step();
        let (&kind, after) = rest.split_first()?;
        if kind == 0 {
            return after.is_empty().then_some(None);
        }
        let key = after.iter().position(|&byte| byte == 0)?;
        let value = &after[key + 1..];
        let len = len(kind, value)?;
        let next = value.get(len..)?;
        if after[..key] == *name {
            return read(kind, &value[..len]).map(Some);
        }
        // An invalid name before the field is an error for `bson`.
        if !after[..key].is_ascii() {
            return None;
        }
        rest = next;
    }
}

/// The number of bytes of a value.
fn len(kind: u8, value: &[u8]) -> Option<usize> {
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
fn read(kind: u8, value: &[u8]) -> Option<RawBsonRef<'_>> {
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
            let found = find(document.as_bytes(), b"x");
            assert_eq!(found, Some(Some(RawBsonRef::String("found"))), "{value}");
            assert_eq!(find(document.as_bytes(), b"y"), Some(None));
            assert_eq!(get(&document, "before"), get_slowly(&document, "before"));
        }
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
        assert_eq!(get(document, "x"), get_slowly(document, "x"));
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
                let (fast, slow) = (get(document, &name), get_slowly(document, &name));
                prop_assert_eq!(format!("{fast:?}"), format!("{slow:?}"));
            }
        }
    }
}
