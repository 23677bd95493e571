//! A file of BSON: documents one after another, as mongodump writes a collection.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};
use odm_store::{Error, ErrorKind, MAX_DEPTH, MAX_LEN, Result};
use tokio::io::AsyncReadExt;

use super::{Reader, unreadable};
use crate::database::transfer::input_position::{At, InputPosition};

/// The bytes of the shortest document.
const SHORTEST: usize = 5;

/// A file of BSON as it is read.
pub(super) struct BsonFile<'r> {
    reader: Reader<'r>,
    file: Option<usize>,
    /// Where the next document begins.
    offset: u64,
}

impl<'r> BsonFile<'r> {
    pub(super) fn new(reader: Reader<'r>, file: Option<usize>) -> Self {
        BsonFile {
            reader,
            file,
            offset: 0,
        }
    }

    /// How many bytes were read.
    pub(super) fn read(&self) -> u64 {
        self.offset
    }

    /// Reads the next document.
    pub(super) async fn next(&mut self) -> Result<Option<(InputPosition, RawDocumentBuf)>> {
        let place = InputPosition {
            file: self.file,
            at: At::Offset(self.offset),
        };
        let invalid =
            |message: &str| Error::new(ErrorKind::InvalidImport, format!("{place}: {message}"));
        let mut bytes = Vec::new();
        self.append(&mut bytes, 4).await?;
        let Ok(length) = <[u8; 4]>::try_from(&*bytes) else {
            if bytes.is_empty() {
                return Ok(None);
            }
            return Err(invalid("the file ends within the length of a document"));
        };
        let length = i32::from_le_bytes(length);
        let len = usize::try_from(length).unwrap_or_default();
        if !(SHORTEST..=MAX_LEN).contains(&len) {
            return Err(invalid(&format!(
                "the length of the document is {length} bytes, and can be from {SHORTEST} to {MAX_LEN}: the file is \
                 damaged, or is no dump of one collection"
            )));
        }
        self.append(&mut bytes, len - 4).await?;
        if bytes.len() < len {
            return Err(invalid(&format!(
                "the file ends within the document, after {} of its {len} bytes",
                bytes.len()
            )));
        }
        let document = RawDocumentBuf::from_bytes(bytes).map_err(damaged);
        let checked = document.and_then(|document| check(&document, 1).map(|()| document));
        let document =
            checked.map_err(|why| invalid(&format!("the document is no BSON: {why}")))?;
        Ok(Some((place, document)))
    }

    /// Appends the next bytes, unless the file ends before.
    async fn append(&mut self, bytes: &mut Vec<u8>, count: usize) -> Result<()> {
        let mut next = (&mut self.reader).take(count as u64);
        let read = next.read_to_end(bytes).await.map_err(unreadable)?;
        self.offset += read as u64;
        Ok(())
    }
}

/// Refuses a damaged document: with a wrong length, a text that is no UTF-8, or a name twice.
fn check(document: &RawDocument, depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
    }
    let mut names = Vec::new();
    for element in document {
        let (name, value) = element.map_err(damaged)?;
        names.push(name.as_str());
        match value {
            RawBsonRef::Document(inner) => check(inner, depth + 1)?,
            RawBsonRef::Array(array) => {
                let elements = RawDocument::from_bytes(array.as_bytes()).map_err(damaged)?;
                check(elements, depth + 1)?;
            }
            RawBsonRef::JavaScriptCodeWithScope(code) => check(code.scope, depth + 1)?,
            _ => {}
        }
    }
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!(
            "the name `{}` is there twice in one document",
            pair[0]
        )),
        None => Ok(()),
    }
}

fn damaged(error: bson::error::Error) -> String {
    error.to_string()
}
