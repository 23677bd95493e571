//! The bounds of documents, and of the memory of a run.

use bson::{RawBsonRef, RawDocument, RawDocumentBuf};

use crate::{Error, error::code, path, types::check_computed_size};

/// The greatest number of bytes of a stored document.
const MAX_STORED: usize = 16 << 20;

/// The greatest number of bytes of a document that leaves a pipeline: MongoDB has some room for what is made of a stored one.
const MAX_RESULT: usize = MAX_STORED + (16 << 10);

/// The greatest depth of a document.
const MAX_DEPTH: usize = 200;

/// The fewest bytes of a level: a type, the end of a name, a length and an end.
const MIN_LEVEL: usize = 7;

/// The document that a stage has made, unless it is too large or too deep for the next stage.
pub(super) fn made(document: RawDocumentBuf) -> Result<RawDocumentBuf, Error> {
    let len = document.as_bytes().len();
    check_computed_size(len)?;
    match len > MAX_DEPTH * MIN_LEVEL && !is_within(&document, MAX_DEPTH) {
        true => Err(Error::ResultTooDeep(MAX_DEPTH)),
        false => Ok(document),
    }
}

/// Checks a document that leaves a pipeline.
pub(super) fn check_result(document: &RawDocument) -> Result<(), Error> {
    check_len(document, MAX_RESULT)
}

/// Checks a document that is stored.
pub(super) fn check_stored(document: &RawDocument) -> Result<(), Error> {
    check_len(document, MAX_STORED)
}

fn check_len(document: &RawDocument, limit: usize) -> Result<(), Error> {
    if document.as_bytes().len() > limit {
        return Err(Error::TooLarge { limit });
    }
    Ok(())
}

/// Whether a document has at most so many levels, itself included.
fn is_within(document: &RawDocument, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else {
        return false;
    };
    path::fields(document).all(|(_, value)| match value {
        RawBsonRef::Document(inner) => is_within(inner, levels),
        // Its elements are the fields of a document.
        RawBsonRef::Array(array) => RawDocument::from_bytes(array.as_bytes())
            .is_ok_and(|elements| is_within(elements, levels)),
        _ => true,
    })
}

/// The memory that a stage of a run takes.
#[derive(Debug)]
pub(super) struct Memory {
    stage: &'static str,
    code: i32,
    used: usize,
    limit: usize,
}

impl Memory {
    pub(super) fn new(stage: &'static str, limit: usize) -> Memory {
        Memory {
            stage,
            code: code::MEMORY_LIMIT,
            used: 0,
            limit,
        }
    }

    /// The memory of the results of `$facet`.
    pub(super) fn of_facet(limit: usize) -> Memory {
        Memory {
            code: 4_031_700,
            ..Memory::new("$facet", limit)
        }
    }

    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Error> {
        self.used = self.used.saturating_add(bytes);
        match self.used > self.limit {
            true => Err(Error::MemoryLimit {
                stage: self.stage,
                limit: self.limit,
                code: self.code,
            }),
            false => Ok(()),
        }
    }

    pub(super) fn give_back(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }
}
