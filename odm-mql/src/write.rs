//! A writer of BSON into one buffer. Unchanged parts are copied byte for byte.

use std::ops::Range;

use bson::{
    RawBsonRef, RawDocumentBuf,
    raw::{RawArray, RawDocument, RawElement, RawIter, cstr},
    spec::ElementType,
};

use crate::{Error, steps};

/// A document that is being written.
pub(super) struct Writer {
    bytes: Vec<u8>,
}

/// The begin of a document that has not ended.
#[must_use]
pub(super) struct Open(usize);

impl Writer {
    pub(super) fn with_capacity(capacity: usize) -> Writer {
        Writer {
            bytes: Vec::with_capacity(capacity),
        }
    }

    /// The number of bytes that were written.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn begin(&mut self) -> Open {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        Open(start)
    }

    pub(super) fn end(&mut self, Open(start): Open) -> Result<(), Error> {
        self.bytes.push(0);
        let len = i32::try_from(self.bytes.len() - start)
            .map_err(|_| Error::Encode("it is larger than 2 GiB".to_owned()))?;
        self.bytes[start..start + 4].copy_from_slice(&len.to_le_bytes());
        Ok(())
    }

    /// Ends the outermost document.
    pub(super) fn finish(mut self, open: Open) -> Result<RawDocumentBuf, Error> {
        self.end(open)?;
        RawDocumentBuf::from_bytes(self.bytes).map_err(malformed)
    }

    /// Writes the type and the name of an element, whose value must follow.
    pub(super) fn head(&mut self, kind: ElementType, name: Name<'_>) {
        self.bytes.push(kind as u8);
        match name {
            Name::Field(name) => self.bytes.extend_from_slice(name.as_bytes()),
            Name::Position(at) => self.digits(at),
        }
        self.bytes.push(0);
    }

    fn digits(&mut self, mut number: usize) {
        let start = self.bytes.len();
        loop {
            self.bytes.push(b'0' + (number % 10) as u8);
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.bytes[start..].reverse();
    }

    /// Writes null at each of these positions, and returns how many bytes they take.
    pub(super) fn nulls(&mut self, positions: Range<usize>) -> usize {
        let before = self.bytes.len();
        for at in positions {
            self.head(ElementType::Null, Name::Position(at));
        }
        self.bytes.len() - before
    }

    pub(super) fn element(&mut self, name: Name<'_>, value: RawBsonRef<'_>) {
        self.head(value.element_type(), name);
        match value {
            RawBsonRef::Document(document) => self.bytes.extend_from_slice(document.as_bytes()),
            RawBsonRef::Array(array) => self.bytes.extend_from_slice(array.as_bytes()),
            RawBsonRef::Null => {}
            RawBsonRef::Int32(number) => self.bytes.extend_from_slice(&number.to_le_bytes()),
            RawBsonRef::Int64(number) => self.bytes.extend_from_slice(&number.to_le_bytes()),
            other => {
                // The bytes of another value are accessible only in a document, after its length, the type
                // and the end of the empty name.
                let mut document = RawDocumentBuf::new();
                document.append(cstr!(""), other);
                let bytes = document.as_bytes();
                self.bytes.extend_from_slice(&bytes[6..bytes.len() - 1]);
            }
        }
    }

    /// Copies an element of another document.
    pub(super) fn copy(&mut self, element: &Element<'_>) {
        self.bytes.extend_from_slice(element.bytes);
    }

    /// Copies the value of an element of another document under a new name.
    pub(super) fn copy_as(&mut self, name: Name<'_>, element: &Element<'_>) {
        self.head(element.raw.element_type(), name);
        self.bytes
            .extend_from_slice(&element.bytes[element.name().len() + 2..]);
    }
}

/// The name of a field, or the position of an element.
#[derive(Clone, Copy)]
pub(super) enum Name<'a> {
    Field(&'a str),
    Position(usize),
}

/// An element of a document or an array, with all its bytes.
pub(super) struct Element<'a> {
    raw: RawElement<'a>,
    bytes: &'a [u8],
}

impl<'a> Element<'a> {
    pub(super) fn name(&self) -> &'a str {
        self.raw.key().as_str()
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn value(&self) -> Result<RawBsonRef<'a>, Error> {
        self.raw.value().map_err(malformed)
    }
}

/// The elements of a document. An element that cannot be decoded is an error, so that no change loses it.
pub(super) fn fields(document: &RawDocument) -> Elements<'_> {
    Elements {
        inner: document.iter_elements(),
        bytes: document.as_bytes(),
        at: 4,
    }
}

/// The elements of an array.
pub(super) fn elements(array: &RawArray) -> Elements<'_> {
    Elements {
        inner: array.iter_elements(),
        bytes: array.as_bytes(),
        at: 4,
    }
}

pub(super) struct Elements<'a> {
    inner: RawIter<'a>,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Element<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        steps::step();
        Some(self.inner.next()?.map_err(malformed).and_then(|raw| {
            let end = self.at + 1 + raw.key().len() + 1 + raw.size();
            let bytes = self
                .bytes
                .get(self.at..end)
                .ok_or_else(|| malformed("cut off"))?;
            self.at = end;
            Ok(Element { raw, bytes })
        }))
    }
}

pub(super) fn malformed(error: impl std::fmt::Display) -> Error {
    Error::Malformed(error.to_string())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{raw, value};

    proptest! {
        #[test]
        fn copies_are_the_same_bytes(values in prop::collection::vec(value(), 0..5)) {
            let document = raw(bson::doc! { "a": values });
            let mut writer = Writer::with_capacity(0);
            let open = writer.begin();
            for element in fields(&document) {
                let element = element.expect("readable");
                let RawBsonRef::Array(array) = element.value().expect("readable") else {
                    unreachable!("it was made as an array");
                };
                writer.head(ElementType::Array, Name::Field(element.name()));
                let inner = writer.begin();
                for (at, element) in elements(array).enumerate() {
                    let element = element.expect("readable");
                    match at % 3 {
                        0 => writer.copy(&element),
                        1 => writer.copy_as(Name::Position(at), &element),
                        _ => writer.element(
                            Name::Position(at),
                            element.value().expect("readable"),
                        ),
                    }
                }
                writer.end(inner).expect("small");
            }
            prop_assert_eq!(writer.finish(open).expect("a document"), document);
        }
    }

    #[test]
    fn positions_are_written_in_decimal() {
        let mut writer = Writer::with_capacity(0);
        let open = writer.begin();
        let bytes = writer.nulls(0..1_001);
        let document = writer.finish(open).expect("a document");
        let names = document
            .iter()
            .map(|field| field.expect("a field").0.as_str().to_owned());
        assert!(names.eq((0..1_001).map(|at| at.to_string())));
        assert_eq!(document.as_bytes().len(), bytes + 5);
    }

    #[test]
    fn a_broken_document_is_an_error() {
        let mut bytes = raw(bson::doc! { "a": "text" }).into_bytes();
        bytes[7] = 0xff; // the length of the text
        let document = RawDocumentBuf::from_bytes(bytes).expect("the frame is sound");
        assert!(fields(&document).next().expect("an element").is_err());
    }
}
