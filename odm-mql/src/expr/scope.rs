//! The scope of an expression: a document, the variables of the expressions around it, and the collation of its comparisons.

use bson::{RawBson, RawDocument};

use super::{
    evaluate::{at_path, in_elements},
    work::Work,
};
use crate::{Collation, Error};

/// A document, with the variables that are bound around an expression, and the collation by which texts are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) document: &'a RawDocument,
    pub(super) collation: Option<&'a Collation>,
    /// The work that is left for the document.
    pub(super) work: &'a Work<'a>,
    frame: Option<&'a Frame<'a>>,
}

/// The variables of one expression, inside of those around it.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    names: &'a [String],
    values: &'a [Option<RawBson>],
    outer: Option<&'a Frame<'a>>,
}

impl<'a> Scope<'a> {
    pub(super) fn of(
        document: &'a RawDocument,
        collation: Option<&'a Collation>,
        work: &'a Work<'a>,
    ) -> Self {
        Scope {
            document,
            collation,
            work,
            frame: None,
        }
    }

    /// Variables inside of this scope.
    pub(super) fn frame(&self, names: &'a [String], values: &'a [Option<RawBson>]) -> Frame<'a> {
        Frame {
            names,
            values,
            outer: self.frame,
        }
    }

    /// The scope inside of a frame.
    pub(super) fn within<'b>(&self, frame: &'b Frame<'b>) -> Scope<'b>
    where
        'a: 'b,
    {
        Scope {
            document: self.document,
            collation: self.collation,
            work: self.work,
            frame: Some(frame),
        }
    }

    /// The value at a path in a variable. The parser has found the variable.
    pub(super) fn variable(
        &self,
        name: &str,
        path: Option<&str>,
    ) -> Result<Option<RawBson>, Error> {
        let (mut frame, mut read) = (self.frame, 0_u64);
        while let Some(inner) = frame {
            let found = inner.names.iter().position(|other| other == name);
            read = read.saturating_add(found.unwrap_or(inner.names.len()) as u64);
            if let Some(at) = found {
                let value = inner.values.get(at).and_then(Option::as_ref);
                let value = value.and_then(|value| part(value, path, &mut read));
                self.work.take_fields(read)?;
                return Ok(value);
            }
            frame = inner.outer;
        }
        Ok(None)
    }
}

/// The value at a path in a value. The fields that it reads are added to the fields that were read.
pub(crate) fn part(value: &RawBson, path: Option<&str>, read: &mut u64) -> Option<RawBson> {
    match (value, path) {
        (value, None) => Some(value.clone()),
        (RawBson::Document(document), Some(path)) => at_path(document, path, read),
        (RawBson::Array(array), Some(path)) => Some(in_elements(array, path, read)),
        _ => None,
    }
}
