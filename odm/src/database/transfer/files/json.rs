//! A file of JSON: documents one after another, each on a line or on several, or a list of documents.

use bson::RawDocumentBuf;
use odm_store::{Error, ErrorKind, Result};
use tokio::io::AsyncBufReadExt;

use super::{Reader, unreadable};
use crate::database::transfer::{
    extended_json::ForeignDocument,
    input_position::{At, InputPosition},
    line::LONGEST,
};

/// A file of JSON as it is read.
pub(super) struct JsonFile<'r> {
    reader: Reader<'r>,
    file: Option<usize>,
    /// The place of the next byte, from 1.
    line: u64,
    column: u64,
    /// Whether another document precedes it on its line.
    is_line_begun: bool,
    state: ExpectedNext,
    read: u64,
}

/// The parts that can come next.
#[derive(Clone, Copy, PartialEq)]
enum ExpectedNext {
    Start,
    /// A document.
    Document,
    /// A document, or the end of the list.
    FirstOfList,
    /// A document of the list.
    NextOfList,
    /// The end of the list, or a comma.
    Comma,
    End,
}

impl<'r> JsonFile<'r> {
    pub(super) fn new(reader: Reader<'r>, file: Option<usize>) -> Self {
        JsonFile {
            reader,
            file,
            line: 1,
            column: 1,
            is_line_begun: false,
            state: ExpectedNext::Start,
            read: 0,
        }
    }

    /// How many bytes were read.
    pub(super) fn read(&self) -> u64 {
        self.read
    }

    /// Reads the next document.
    pub(super) async fn next(&mut self) -> Result<Option<(InputPosition, RawDocumentBuf)>> {
        loop {
            let Some(byte) = self.skip_blanks().await? else {
                return match self.state {
                    ExpectedNext::Start | ExpectedNext::Document | ExpectedNext::End => Ok(None),
                    _ => Err(self.invalid("the file ends within a list of documents")),
                };
            };
            self.state = match (self.state, byte) {
                (ExpectedNext::Start, b'[') => ExpectedNext::FirstOfList,
                (ExpectedNext::FirstOfList | ExpectedNext::Comma, b']') => ExpectedNext::End,
                (ExpectedNext::Comma, b',') => ExpectedNext::NextOfList,
                (ExpectedNext::Start | ExpectedNext::Document, b'{') => {
                    let is_first = self.state == ExpectedNext::Start;
                    self.state = ExpectedNext::Document;
                    return self.document(is_first).await.map(Some);
                }
                (ExpectedNext::FirstOfList | ExpectedNext::NextOfList, b'{') => {
                    self.state = ExpectedNext::Comma;
                    return self.document(false).await.map(Some);
                }
                (state, byte) => return Err(self.unexpected(state, byte)),
            };
            self.reader.consume(1);
            self.passed(&[byte]);
        }
    }

    /// Returns the next byte that is not blank, and leaves it to be read.
    async fn skip_blanks(&mut self) -> Result<Option<u8>> {
        loop {
            let bytes = self.reader.fill_buf().await.map_err(unreadable)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            let blanks: Vec<u8> = bytes.iter().take_while(is_blank).copied().collect();
            let next = bytes.get(blanks.len()).copied();
            self.reader.consume(blanks.len());
            self.passed(&blanks);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// Reads the document that begins here.
    async fn document(&mut self, is_first: bool) -> Result<(InputPosition, RawDocumentBuf)> {
        let (line, column) = (self.line, self.column);
        let place = self.place();
        let invalid = |message: &str| invalid(place, message);
        let mut json = Vec::new();
        let mut ends = Ends::default();
        // If the document does not end, its parser reports the mistake.
        while !ends.is_reached && !ends.is_broken {
            let bytes = self.reader.fill_buf().await.map_err(unreadable)?;
            if bytes.is_empty() {
                break;
            }
            let len = ends.len_in(bytes);
            json.extend_from_slice(&bytes[..len]);
            self.reader.consume(len);
            if json.len() as u64 > LONGEST {
                return Err(invalid(
                    "the JSON of the document is longer than that of any",
                ));
            }
        }
        self.passed(&json);
        let ForeignDocument(document) = serde_json::from_slice(&json).map_err(|error| {
            let message = error.to_string();
            let message = message
                .rsplit_once(" at line ")
                .map_or(&*message, |(why, _)| why);
            let column = match error.line() {
                0 | 1 => column - 1 + error.column() as u64,
                _ => error.column() as u64,
            };
            let line = line + (error.line() as u64).saturating_sub(1);
            let message = format!(
                "the document is no extended JSON: {message}, at line {line}, column {column}"
            );
            invalid(&message).with_source(error)
        })?;
        let names = ["export", "database", "version", "documents"];
        let is_head = names.iter().all(|name| document.contains_key(name));
        if is_first && is_head && !document.contains_key("_id") {
            return Err(invalid(
                "the file is an export of this library: read it by `import`",
            ));
        }
        let document = RawDocumentBuf::try_from(&document)
            .map_err(|error| invalid("the document cannot be stored").with_source(error))?;
        Ok((place, document))
    }

    /// The place of the next byte.
    fn place(&self) -> InputPosition {
        let at = if self.is_line_begun {
            At::Column(self.line, self.column)
        } else {
            At::Line(self.line)
        };
        InputPosition {
            file: self.file,
            at,
        }
    }

    /// Counts bytes that were read.
    fn passed(&mut self, bytes: &[u8]) {
        self.read += bytes.len() as u64;
        let mut lines = bytes.rsplit(|&byte| byte == b'\n');
        let last = lines.next().unwrap_or_default();
        let ended = lines.count() as u64;
        if ended > 0 {
            self.line += ended;
            self.column = 1;
            self.is_line_begun = false;
        }
        self.column += last.len() as u64;
        self.is_line_begun |= !last.trim_ascii().is_empty();
    }

    fn invalid(&self, message: &str) -> Error {
        invalid(self.place(), message)
    }

    #[cold]
    fn unexpected(&self, state: ExpectedNext, byte: u8) -> Error {
        let found = if byte.is_ascii_graphic() {
            format!("`{}`", char::from(byte))
        } else {
            format!("the byte {byte}")
        };
        let expected = match state {
            ExpectedNext::Start => {
                let message = format!(
                    "the file is no JSON: it begins with {found}, and not with the `{{` of a document or the `[` of a \
                     list of documents; of CSV, make JSON by `mongoexport --type=json`"
                );
                return self.invalid(&message);
            }
            ExpectedNext::Document | ExpectedNext::NextOfList => {
                "a document, which begins with `{`"
            }
            ExpectedNext::FirstOfList => "a document, which begins with `{`, or `]`",
            ExpectedNext::Comma => "`,` or `]`",
            ExpectedNext::End => "the end of the file",
        };
        self.invalid(&format!("{found} is here, and not {expected}"))
    }
}

fn invalid(place: InputPosition, message: &str) -> Error {
    Error::new(ErrorKind::InvalidImport, format!("{place}: {message}"))
}

/// Looks for the end of a document.
#[derive(Default)]
struct Ends {
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
    is_reached: bool,
    /// Whether a text continues past the end of its line, which JSON does not allow.
    is_broken: bool,
}

impl Ends {
    /// How many of the next bytes belong to the document.
    fn len_in(&mut self, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            match (self.is_in_text, byte) {
                (true, _) if self.is_escaped => self.is_escaped = false,
                (true, b'\\') => self.is_escaped = true,
                (true, b'"') => self.is_in_text = false,
                (true, b'\n') => {
                    self.is_broken = true;
                    return at + 1;
                }
                (true, _) => {}
                (false, b'"') => self.is_in_text = true,
                (false, b'{' | b'[') => self.depth += 1,
                (false, b'}' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        self.is_reached = true;
                        return at + 1;
                    }
                }
                (false, _) => {}
            }
        }
        bytes.len()
    }
}
