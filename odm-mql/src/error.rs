//! Errors in filters, updates, sorts and projections.

use std::borrow::Cow;

#[doc(hidden)]
pub mod code;

/// An error in a request, or the reason why it cannot be applied to a document.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operator that does not exist, or is not supported at this position.
    #[error("unknown operator `{operator}`: it does not exist, or is not supported here")]
    UnknownOperator {
        /// The operator.
        operator: String,
        /// MongoDB's code.
        code: i32,
    },
    /// An operator of MongoDB that this library does not have.
    #[error("operator `{operator}` is not supported; {instead}")]
    NotSupported {
        /// The operator.
        operator: String,
        /// The remedy.
        instead: &'static str,
        /// MongoDB's code.
        code: i32,
    },
    /// A stage of a pipeline that does not exist.
    #[error("unrecognized pipeline stage name: `{0}`")]
    UnknownStage(String),
    /// An operand that an operator does not accept.
    #[error("`{operator}` needs {expected}")]
    BadOperand {
        /// The operator.
        operator: String,
        /// The operand that it needs.
        expected: &'static str,
        /// MongoDB's code.
        code: i32,
    },
    /// A path that names no field.
    #[error("invalid path `{path}`: {reason}")]
    BadPath {
        /// The path.
        path: String,
        /// Why it is invalid.
        reason: &'static str,
        /// MongoDB's code.
        code: i32,
    },
    /// Two operations of one update, or two fields of one projection, whose paths overlap.
    #[error("{}", conflict(path, other))]
    ConflictingPaths {
        /// The later path.
        path: String,
        /// The earlier path.
        other: String,
        /// MongoDB's code.
        code: i32,
    },
    /// A projection that both includes and excludes fields.
    #[error(
        "mixed projection: `{path}` is excluded among included fields, or included among excluded ones"
    )]
    MixedProjection {
        /// The path that differs from the others.
        path: String,
        /// Whether it is the included one.
        included: bool,
    },
    /// A keyword of a schema that does not exist, or whose operand it does not accept.
    #[error("invalid schema: `{path}` {reason}")]
    InvalidSchema {
        /// The path of the keyword in the schema.
        path: String,
        /// The mistake, and the remedy.
        reason: String,
        /// MongoDB's code.
        code: i32,
    },
    /// A regular expression that does not compile.
    #[error("invalid regular expression `{pattern}`: {reason}")]
    InvalidRegex {
        /// The expression.
        pattern: String,
        /// Why it does not compile.
        reason: String,
    },
    /// A regular expression whose match on a value takes more steps or memory than the bound.
    #[error(
        "regular expression `{pattern}` is too expensive ({reason}); write it with fewer ways to match"
    )]
    RegexLimit {
        /// The expression.
        pattern: String,
        /// The bound that was met.
        reason: String,
    },
    /// An operator of an expression that does not accept a value.
    #[error("expression failed: `{operator}`: {reason}")]
    Expression {
        /// The operator.
        operator: &'static str,
        /// The input that it does not accept.
        reason: Cow<'static, str>,
        /// MongoDB's code.
        code: i32,
    },
    /// A filter, or a value in it, that is nested too deeply.
    #[error("filter nested deeper than {0} levels")]
    TooDeep(usize),
    /// An update that is a whole document, where operators are needed.
    #[error("update without an operator: `{0}` is a field; write `$set`, or use a replacement")]
    NotAnOperator(String),
    /// A name of an array filter without a filter, or with several.
    #[error("array filter `{name}`: {reason}")]
    ArrayFilter {
        /// The name.
        name: String,
        /// Why it is invalid.
        reason: &'static str,
        /// MongoDB's code.
        code: i32,
    },
    /// A value that cannot be encoded as BSON.
    #[error("value cannot be encoded as BSON: {0}")]
    Encode(String),

    /// The path of an update goes through a value that has no fields.
    #[error("cannot create field `{field}` of `{path}` in a value of type {found}")]
    CannotCreateField {
        /// The whole path.
        path: String,
        /// The part of it that cannot be created.
        field: String,
        /// The type of the value that the path goes through.
        found: &'static str,
    },
    /// A value of a type that an operator of an update does not accept.
    #[error("cannot apply `{operator}` to `{path}`: it needs {expected}, not {found}")]
    WrongType {
        /// The operator.
        operator: &'static str,
        /// The path.
        path: String,
        /// The type that it needs.
        expected: &'static str,
        /// The type of the value there.
        found: &'static str,
        /// MongoDB's code.
        code: i32,
    },
    /// The result of `$inc` or `$mul` is out of range.
    #[error("integer overflow: `{operator}` of `{path}` is out of range")]
    Overflow {
        /// The operator.
        operator: &'static str,
        /// The path.
        path: String,
    },
    /// An array position so large that too many nulls would be added before it.
    #[error(
        "array too short: `{path}` would pad it with more than {limit} nulls; name an earlier position"
    )]
    TooMuchPadding {
        /// The path.
        path: String,
        /// The greatest number of nulls.
        limit: usize,
    },
    /// An update, a projection or a stage of a pipeline whose result is larger than a document can be.
    #[error("the result is a document of more than {limit} bytes; put less into it")]
    TooLarge {
        /// The greatest number of bytes.
        limit: usize,
    },
    /// A projection, a stage of a pipeline or an operator of an expression whose result is nested too deeply.
    #[error("the result is a document nested deeper than {0} levels")]
    ResultTooDeep(usize),
    /// A stage of a pipeline that holds more than its memory.
    #[error(
        "`{stage}` needs more than {limit} bytes of memory; leave documents or fields out before it"
    )]
    MemoryLimit {
        /// The stage.
        stage: &'static str,
        /// The greatest number of bytes.
        limit: usize,
        /// MongoDB's code.
        code: i32,
    },
    /// A positional `$` where the filter matched by no element of an array, or by an element that the array on the path does not have.
    #[error(
        "no position for `{path}`: the filter must match the document by an element of the array"
    )]
    NoPosition {
        /// The path.
        path: String,
        /// MongoDB's code.
        code: i32,
    },
    /// A change of the element at a position that the array does not have.
    #[error("no element at position {position} of the array, which `{path}` names")]
    NoElement {
        /// The path.
        path: String,
        /// The position.
        position: usize,
    },
    /// A change of `_id`.
    #[error("immutable field `{0}` cannot change")]
    Immutable(String),
    /// A `$rename` whose path goes through an array.
    #[error("cannot rename `{path}`: `{array}` is an array")]
    RenameInArray {
        /// The path.
        path: String,
        /// The array.
        array: String,
    },
    /// A compound index on a document with two different arrays.
    #[error("parallel arrays `{first}` and `{second}` cannot be in one index")]
    ParallelArrays {
        /// The path of one field of the index.
        first: String,
        /// The path of the other.
        second: String,
    },
    /// A filter of an upsert that fixes a field twice, so that no document can be made from it.
    #[error("ambiguous upsert: the filter fixes `{0}` twice")]
    AmbiguousSeed(String),
    /// A stored document that cannot be decoded.
    #[error("malformed document: {0}")]
    Malformed(String),
}

/// The message about two overlapping paths of one request.
fn conflict(path: &str, other: &str) -> String {
    match path == other {
        true => format!("conflicting paths: `{path}` is named twice; name each field once"),
        false => format!("conflicting paths: `{path}` and `{other}` overlap; name each field once"),
    }
}

impl Error {
    /// Returns MongoDB's code of the error.
    pub fn code(&self) -> i32 {
        match self {
            Error::UnknownOperator { code, .. }
            | Error::NotSupported { code, .. }
            | Error::BadOperand { code, .. }
            | Error::BadPath { code, .. }
            | Error::ConflictingPaths { code, .. }
            | Error::Expression { code, .. }
            | Error::ArrayFilter { code, .. }
            | Error::NoPosition { code, .. }
            | Error::InvalidSchema { code, .. }
            | Error::MemoryLimit { code, .. }
            | Error::WrongType { code, .. } => *code,
            Error::MixedProjection { included, .. } => 31_254 - i32::from(*included),
            Error::InvalidRegex { .. } => 51_091,
            Error::RegexLimit { .. } => 51_156,
            Error::UnknownStage(_) => code::UNKNOWN_STAGE,
            Error::TooDeep(_) | Error::ResultTooDeep(_) => code::OVERFLOW,
            Error::NotAnOperator(_) => code::FAILED_TO_PARSE,
            Error::Overflow { .. } | Error::NoElement { .. } => code::BAD_VALUE,
            Error::TooMuchPadding { .. } => code::CANNOT_BACKFILL_ARRAY,
            Error::TooLarge { .. } => code::OBJECT_TOO_LARGE,
            Error::CannotCreateField { .. } => code::PATH_NOT_VIABLE,
            Error::Immutable(_) => code::IMMUTABLE_FIELD,
            Error::RenameInArray { .. } => code::BAD_VALUE,
            Error::ParallelArrays { .. } => code::CANNOT_INDEX_PARALLEL_ARRAYS,
            Error::AmbiguousSeed(_) => code::NOT_SINGLE_VALUE_FIELD,
            Error::Encode(_) | Error::Malformed(_) => code::INVALID_BSON,
        }
    }

    /// Returns MongoDB's name of [`code`](Error::code).
    pub fn code_name(&self) -> Cow<'static, str> {
        code::name(self.code())
    }

    /// Returns the path in the document that the error is about, if it is about one.
    #[doc(hidden)]
    pub fn path(&self) -> Option<&str> {
        match self {
            Error::CannotCreateField { path, .. }
            | Error::NoPosition { path, .. }
            | Error::NoElement { path, .. }
            | Error::WrongType { path, .. }
            | Error::Overflow { path, .. }
            | Error::TooMuchPadding { path, .. }
            | Error::RenameInArray { path, .. }
            | Error::Immutable(path) => Some(path),
            _ => None,
        }
    }

    /// Whether the request is well-formed, and fails only on the document that it met.
    pub fn is_about_document(&self) -> bool {
        matches!(
            self,
            Error::CannotCreateField { .. }
                | Error::NoPosition { .. }
                | Error::NoElement { .. }
                | Error::WrongType { .. }
                | Error::Overflow { .. }
                | Error::TooMuchPadding { .. }
                | Error::TooLarge { .. }
                | Error::ResultTooDeep(_)
                | Error::Immutable(_)
                | Error::RenameInArray { .. }
                | Error::ParallelArrays { .. }
                | Error::Malformed(_)
        )
    }
}
