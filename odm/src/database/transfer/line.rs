//! The lines of an export: one about the whole, then one for each document.

use std::collections::BTreeMap;

use bson::{RawDocument, RawDocumentBuf};
use odm_store::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

use super::{
    extended_json::{Canonical, ExportedDocument},
    files::{BYTE_ORDER_MARK, unreadable},
};

/// The version of the format.
pub(super) const FORMAT: u32 = 1;

/// How long a line can be, in bytes: longer than the line of any document.
pub(super) const LONGEST: u64 = 256 << 20;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    /// The version of the format.
    pub(super) export: u32,
    /// The only database, or an empty name.
    pub(super) database: String,
    /// The version of its models.
    pub(super) version: u32,
    /// The versions of all databases, if there are several.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) databases: BTreeMap<String, u32>,
    /// How many documents there are.
    pub(super) documents: u64,
    /// The last numbers that collections with `#[id(sequence)]` were given.
    #[serde(default)]
    pub(super) sequences: BTreeMap<String, i64>,
}

impl Head {
    pub(super) fn new(
        databases: &[(String, u32)],
        documents: u64,
        sequences: BTreeMap<String, i64>,
    ) -> Self {
        let (database, version) = match databases {
            [only] => only.clone(),
            _ => (String::new(), 0),
        };
        let several = databases.iter().filter(|_| databases.len() > 1);
        Head {
            export: FORMAT,
            database,
            version,
            databases: several.cloned().collect(),
            documents,
            sequences,
        }
    }

    /// The databases of the documents, each with its version.
    pub(super) fn named(&self) -> Vec<(&str, u32)> {
        let only = Some((self.database.as_str(), self.version));
        let only = only.filter(|(name, _)| !name.is_empty());
        let several = self.databases.iter();
        let several = several.map(|(name, version)| (name.as_str(), *version));
        only.into_iter().chain(several).collect()
    }

    pub(super) fn write(&self, to: &mut Vec<u8>) -> Result<()> {
        serde_json::to_writer(&mut *to, self).map_err(unwritable)?;
        to.push(b'\n');
        Ok(())
    }
}

/// Appends the line of a document.
pub(super) fn write_document(
    collection: &str,
    document: &RawDocument,
    to: &mut Vec<u8>,
) -> Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        collection: &'a str,
        document: Canonical<'a>,
    }
    let document = Canonical(document);
    let line = Line {
        collection,
        document,
    };
    serde_json::to_writer(&mut *to, &line).map_err(unwritable)?;
    to.push(b'\n');
    Ok(())
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::new(
        ErrorKind::Encode,
        "document cannot be written as extended JSON",
    )
    .with_source(error)
}

/// The lines of an export as they are read.
pub(super) struct LineReader<'r> {
    reader: Box<dyn AsyncBufRead + Unpin + Send + 'r>,
    /// The number of the line that was read last.
    number: u64,
}

impl<'r> LineReader<'r> {
    pub(super) fn new(reader: Box<dyn AsyncBufRead + Unpin + Send + 'r>) -> Self {
        LineReader { reader, number: 0 }
    }

    /// The number of the line that was read last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Reads the first line.
    pub(super) async fn head(&mut self) -> Result<Head> {
        /// The part of the first line that all versions of the format share.
        #[derive(Deserialize)]
        struct Version {
            export: u32,
        }
        let Some(line) = self.next().await? else {
            return Err(self.invalid("the export is empty"));
        };
        let version = serde_json::from_slice(&line).map_err(|error| {
            let message = format!(
                "the line is no part of an export: {error}; a file of mongoexport or mongodump is read by `import_files`"
            );
            self.invalid(&message).with_source(error)
        });
        let Version { export } = version?;
        if export != FORMAT {
            return Err(self.invalid(&format!(
                "the format of the export is {export}, and this version of the library reads {FORMAT}"
            )));
        }
        self.parse(&line)
    }

    /// Reads the next document, with its collection.
    pub(super) async fn document(&mut self) -> Result<Option<(String, RawDocumentBuf)>> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Line {
            collection: String,
            document: ExportedDocument,
        }
        let Some(line) = self.next().await? else {
            return Ok(None);
        };
        let Line {
            collection,
            document: ExportedDocument(document),
        } = self.parse(&line)?;
        let document = RawDocumentBuf::try_from(&document);
        let document = document.map_err(|error| {
            let error = self
                .invalid("the document cannot be stored")
                .with_source(error);
            error.at(&collection, None, None)
        })?;
        Ok(Some((collection, document)))
    }

    /// An error in the line that was read last.
    pub(super) fn invalid(&self, message: &str) -> Error {
        invalid(self.number, message)
    }

    fn parse<'l, T: Deserialize<'l>>(&self, line: &'l [u8]) -> Result<T> {
        serde_json::from_slice(line).map_err(|error| {
            self.invalid(&format!("the line is no part of an export: {error}"))
                .with_source(error)
        })
    }

    /// Reads the next line that is not blank.
    async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            let mut line = Vec::new();
            let mut bounded = (&mut self.reader).take(LONGEST);
            let read = bounded.read_until(b'\n', &mut line).await;
            read.map_err(unreadable)?;
            if line.is_empty() {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 && line.starts_with(BYTE_ORDER_MARK) {
                line.drain(..BYTE_ORDER_MARK.len());
            }
            if line.len() as u64 == LONGEST && line.last() != Some(&b'\n') {
                return Err(self.invalid("the line is longer than that of any document"));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line));
            }
        }
    }
}

/// An error in a line.
pub(super) fn invalid(line: u64, message: &str) -> Error {
    Error::new(ErrorKind::InvalidImport, format!("line {line}: {message}"))
}
