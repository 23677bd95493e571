//! What an expression is evaluated in: a document, the variables of the expressions around it, and the collation of its comparisons.

use bson::{RawBson, RawDocument};

use super::evaluate::{at_path, in_elements};
use crate::Collation;

/// A document, with the variables that are bound around an expression, and the collation by which texts are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) document: &'a RawDocument,
    pub(super) collation: Option<&'a Collation>,
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
    pub(super) fn of(document: &'a RawDocument, collation: Option<&'a Collation>) -> Self {
        Scope {
            document,
            collation,
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
            frame: Some(frame),
        }
    }

    /// The value at a path in a variable. The parser has found the variable.
    pub(super) fn variable(&self, name: &str, path: Option<&str>) -> Option<RawBson> {
        let mut frame = self.frame;
        while let Some(inner) = frame {
            if let Some(at) = inner.names.iter().position(|other| other == name) {
                return part(inner.values.get(at)?, path);
            }
            frame = inner.outer;
        }
        None
    }
}

/// The value at a path in a value.
pub(super) fn part(value: &Option<RawBson>, path: Option<&str>) -> Option<RawBson> {
    match (value.as_ref()?, path) {
        (value, None) => Some(value.clone()),
        (RawBson::Document(document), Some(path)) => at_path(document, path),
        (RawBson::Array(array), Some(path)) => Some(in_elements(array, path)),
        _ => None,
    }
}
