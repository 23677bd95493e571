//! Schemas: rules for documents, in MongoDB's dialect of JSON Schema (draft 4).

mod check;
mod equality;
mod kept;
mod native;
mod node;
mod parse;
mod words;

use std::{fmt, sync::Arc};

use bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf};

pub use self::native::native_dates;
pub use self::native::{native_form, remove_native_forms};
use odm_pattern::Steps;

use self::{
    check::{Checker, Stop},
    node::SchemaNode,
    words::Path,
};
use crate::{Error, error::code};

/// A schema: the rules of `$jsonSchema` for documents.
///
/// The keywords are MongoDB's, with its meanings: `bsonType` `type` `enum`, `allOf` `anyOf` `oneOf` `not`,
/// `minimum` `maximum` `exclusiveMinimum` `exclusiveMaximum` `multipleOf`, `minLength` `maxLength`
/// `pattern`, `properties` `patternProperties` `additionalProperties` `required` `dependencies`
/// `minProperties` `maxProperties`, `items` `additionalItems` `minItems` `maxItems` `uniqueItems`, `title`
/// and `description`. As in MongoDB, `$ref`, `$schema`, `default`, `definitions`, `format` and `id` are
/// errors, and so is any other keyword.
///
/// A rule applies to values of its type, and all other values conform to it: `minimum` accepts every string. The types of numbers and the
/// order of fields do not matter for equality. A name in `properties`, `required` and `dependencies` names one field: a dot in it, which
/// MongoDB takes for a path, is an error, and so is a duplicate name.
#[derive(Clone)]
pub struct Schema(Arc<ParsedSchema>);

struct ParsedSchema {
    form: RawDocumentBuf,
    root: Box<SchemaNode>,
}

/// One rule that a document violates, at one path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The dotted path of the value, with the positions of elements as numbers: `parts.0.name`. It is empty
    /// for the whole document. An empty name is `""` in it.
    pub path: String,
    /// The keyword of the rule: `minimum`, `required`, `bsonType`.
    pub rule: String,
    /// The requirement of the rule, in words that follow the path: `must be at least 0, and is -3`.
    pub message: String,
}

impl Violation {
    /// Creates a violation of a rule at a path.
    pub fn new(
        path: impl Into<String>,
        rule: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Violation {
            path: path.into(),
            rule: rule.into(),
            message: message.into(),
        }
    }
}

impl Schema {
    /// Parses the operand of `$jsonSchema`.
    ///
    /// # Errors
    ///
    /// [`InvalidSchema`](Error::InvalidSchema) with the keyword that is wrong,
    /// [`InvalidRegex`](Error::InvalidRegex), and [`TooDeep`](Error::TooDeep).
    pub fn parse(schema: &RawDocument) -> Result<Schema, Error> {
        let parsed = Schema::parse_stored(schema)?;
        if parsed.0.form.as_bytes() != schema.as_bytes() {
            return Err(Error::InvalidSchema {
                path: native::KEYWORD.to_owned(),
                reason: "is not a keyword of schemas; leave it out".to_owned(),
                code: code::FAILED_TO_PARSE,
            });
        }
        Ok(parsed)
    }

    /// Parses a schema of the catalog, which may have the keyword `nativeForm` in addition to MongoDB's keywords. The
    /// [form](Schema::as_document) of the schema omits it, since no server knows it.
    #[doc(hidden)]
    pub fn parse_stored(schema: &RawDocument) -> Result<Schema, Error> {
        let root = parse::schema(schema).map_err(|error| *error)?;
        let mut form = Document::try_from(schema).map_err(malformed)?;
        let form = match remove_native_forms(&mut form) {
            true => RawDocumentBuf::try_from(&form).map_err(malformed)?,
            false => schema.to_owned(),
        };
        Ok(Schema(Arc::new(ParsedSchema { form, root })))
    }

    /// Returns the operand of `$jsonSchema` that the schema was parsed from.
    pub fn as_document(&self) -> &RawDocument {
        &self.0.form
    }

    /// Whether a document conforms to the schema.
    ///
    /// # Errors
    ///
    /// [`RegexLimit`](Error::RegexLimit) if a regular expression needs too many steps.
    pub fn matches(&self, document: &RawDocument) -> Result<bool, Error> {
        self.matches_within(document, &Steps::default())
    }

    /// Whether a document conforms to the schema, within these steps.
    pub(super) fn matches_within(
        &self,
        document: &RawDocument,
        steps: &Steps,
    ) -> Result<bool, Error> {
        let value = RawBsonRef::Document(document);
        match Checker::matching(steps).node(&self.0.root, value, &Path::Root) {
            Ok(()) => Ok(true),
            Err(Stop::Violated) => Ok(false),
            Err(Stop::Failed(error)) => Err(*error),
        }
    }

    /// Returns every rule that a document violates, in the order of its fields. The list is empty if the document conforms.
    ///
    /// # Errors
    ///
    /// [`RegexLimit`](Error::RegexLimit) if a regular expression needs too many steps.
    pub fn violations(&self, document: &RawDocument) -> Result<Vec<Violation>, Error> {
        let mut violations = Vec::new();
        let value = RawBsonRef::Document(document);
        match Checker::reporting(&mut violations, &Steps::default()).node(
            &self.0.root,
            value,
            &Path::Root,
        ) {
            Ok(()) | Err(Stop::Violated) => Ok(violations),
            Err(Stop::Failed(error)) => Err(*error),
        }
    }
}

fn malformed(error: bson::error::Error) -> Error {
    Error::Malformed(error.to_string())
}

impl PartialEq for Schema {
    /// Schemas are equal if their forms are, byte by byte.
    fn eq(&self, other: &Self) -> bool {
        self.0.form == other.0.form
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.0.form).finish()
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

#[cfg(test)]
mod tests;
