//! The bounds of documents, and of the memory of a run.

use bson::{RawDocument, RawDocumentBuf};

use crate::{Error, depth, error::code, types::check_computed_size};

/// The greatest number of bytes of a stored document.
const MAX_STORED: usize = 16 << 20;

/// The greatest number of bytes of a document that leaves a pipeline: MongoDB has some room for additions to a stored one.
const MAX_RESULT: usize = MAX_STORED + (16 << 10);

/// The document that a stage has made, unless it is too large or too deep for the next stage.
pub(super) fn made(document: RawDocumentBuf) -> Result<RawDocumentBuf, Error> {
    check_computed_size(document.as_bytes().len())?;
    depth::check(&document)?;
    Ok(document)
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
