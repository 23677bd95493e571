//! Documents as extended JSON, for commands that come by HTTP.

use bson::{RawDocument, RawDocumentBuf};
use odm_store::{Error, ErrorKind, Result};

use crate::database::{Canonical, ExportedDocument};

/// Reads a document of canonical or relaxed extended JSON, with its fields in their order.
///
/// # Errors
///
/// `InvalidQuery` with the line and the column of the mistake, such as a name that comes twice.
pub fn read(json: &[u8]) -> Result<RawDocumentBuf> {
    let invalid = |error: &dyn std::fmt::Display| {
        Error::new(
            ErrorKind::InvalidQuery,
            format!("no document of extended JSON: {error}"),
        )
    };
    let ExportedDocument(document) =
        serde_json::from_slice(json).map_err(|error| invalid(&error))?;
    RawDocumentBuf::try_from(&document).map_err(|error| invalid(&error))
}

/// Writes a document as canonical extended JSON, in which each value shows its type.
///
/// # Errors
///
/// `Encode` if its bytes are no document; `Limit` if the text would be longer than a limit.
pub fn write(document: &RawDocument, longest: usize) -> Result<Vec<u8>> {
    let mut text = Bounded {
        text: Vec::new(),
        longest,
    };
    match serde_json::to_writer(&mut text, &Canonical(document)) {
        Ok(()) => Ok(text.text),
        Err(error) if error.is_io() => {
            let message = format!(
                "the answer has more than {longest} bytes of JSON: ask for fewer documents"
            );
            Err(Error::new(ErrorKind::Limit, message))
        }
        Err(error) => Err(Error::new(ErrorKind::Encode, error.to_string())),
    }
}

/// A text that does not become longer than a limit.
struct Bounded {
    text: Vec<u8>,
    longest: usize,
}

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if bytes.len() > self.longest - self.text.len() {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bson::{doc, rawdoc};

    use super::{read, write};

    #[test]
    fn a_document_is_read_back_as_it_was_written_up_to_a_length() {
        let document = rawdoc! { "z": 1_i64, "a": { "2": 1.5, "1": "text" }, "d": bson::DateTime::from_millis(7) };
        let json = write(&document, 1_000).unwrap();
        assert_eq!(read(&json).unwrap(), document);
        assert!(write(&document, json.len()).is_ok());
        let long = write(&document, json.len() - 1).unwrap_err();
        assert_eq!(long.kind(), odm_store::ErrorKind::Limit);
        let relaxed = read(br#"{ "find": "parts", "filter": { "n": { "$gt": 5 } } }"#).unwrap();
        let relaxed = bson::Document::try_from(&*relaxed).unwrap();
        assert_eq!(
            relaxed,
            doc! { "find": "parts", "filter": { "n": { "$gt": 5 } } }
        );
        for wrong in ["", "[]", "{\"a\": 1", "{\"a\": 1, \"a\": 2}", "{} {}"] {
            assert!(read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
