//! Where a document was read, as errors name it.

use std::fmt;

/// Where a document was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InputPosition {
    /// The number of its file, if there are several.
    pub(super) file: Option<usize>,
    pub(super) at: At,
}

/// The place of a document in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// The first line of the document.
    Line(u64),
    /// The line and the column where it begins, if it is not the first on its line.
    Column(u64, u64),
    /// The byte where it begins.
    Offset(u64),
    /// How many were read, including it.
    Document(u64),
}

impl InputPosition {
    pub(super) fn line(line: u64) -> Self {
        InputPosition {
            file: None,
            at: At::Line(line),
        }
    }

    /// The range of places from this one to another, in words.
    pub(super) fn to(self, last: InputPosition) -> String {
        match (self.at, last.at) {
            (At::Line(first), At::Line(last_line)) if self.file == last.file => {
                format!("{}lines {first} to {last_line}", InFile(self.file))
            }
            (At::Document(first), At::Document(last)) => format!("documents {first} to {last}"),
            _ => format!("{self} to {last}"),
        }
    }
}

impl fmt::Display for InputPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        InFile(self.file).fmt(f)?;
        match self.at {
            At::Line(line) => write!(f, "line {line}"),
            At::Column(line, column) => write!(f, "line {line}, column {column}"),
            At::Offset(offset) => write!(f, "offset {offset}"),
            At::Document(number) => write!(f, "document {number}"),
        }
    }
}

struct InFile(Option<usize>);

impl fmt::Display for InFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(file) => write!(f, "file {file}, "),
            None => Ok(()),
        }
    }
}
