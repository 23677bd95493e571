//! What can be wrong with a filter, an update, a sort or a projection.

/// What is wrong with a request, or why it cannot be applied to a document.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operator that does not exist, or that is not supported at this place.
    #[error("unknown operator `{0}`")]
    UnknownOperator(String),
    /// An operator has a value that it cannot use.
    #[error("`{operator}` needs {expected}")]
    BadOperand {
        /// The operator.
        operator: String,
        /// What it needs.
        expected: &'static str,
    },
    /// A path that names no field.
    #[error("bad path `{path}`: {reason}")]
    BadPath {
        /// The path.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Two operations of one update, or two fields of one projection, that touch each other.
    #[error("`{path}` conflicts with `{other}`")]
    ConflictingPaths {
        /// The later one.
        path: String,
        /// The earlier one.
        other: String,
    },
    /// A projection that both includes and excludes fields.
    #[error("a projection cannot both include and exclude: `{0}`")]
    MixedProjection(String),
    /// A regular expression that cannot be compiled.
    #[error("invalid regular expression `{pattern}`: {reason}")]
    InvalidRegex {
        /// The expression.
        pattern: String,
        /// Why.
        reason: String,
    },
    /// A filter, or a value in it, that is nested too deeply.
    #[error("nested deeper than {0} levels")]
    TooDeep(usize),
    /// An update that is a whole document, where operators are needed.
    #[error("an update needs operators, not the field `{0}`")]
    NotAnOperator(String),
    /// A name of an array filter that has no filter, or more than one.
    #[error("array filter `{name}`: {reason}")]
    ArrayFilter {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A value that cannot be written as BSON.
    #[error("a value cannot be written as BSON: {0}")]
    Encode(String),

    /// The path of an update leads through a value that has no fields.
    #[error("cannot create field `{field}` of `{path}` in a value of type {found}")]
    CannotCreateField {
        /// The whole path.
        path: String,
        /// The part of it that cannot be created.
        field: String,
        /// The type of the value that it leads through.
        found: &'static str,
    },
    /// A value has not the type that an operator needs.
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
    },
    /// The result of `$inc` or `$mul` is too large.
    #[error("`{operator}` overflows the integer at `{path}`")]
    Overflow {
        /// The operator.
        operator: &'static str,
        /// The path.
        path: String,
    },
    /// An index beyond what an array may be padded to.
    #[error("`{path}` would pad an array with more than {limit} nulls")]
    TooMuchPadding {
        /// The path.
        path: String,
        /// How many are allowed.
        limit: usize,
    },
    /// `_id` would be changed.
    #[error("`{0}` is immutable")]
    Immutable(String),
    /// `$rename` leads through an array.
    #[error("cannot rename `{path}`: `{array}` is an array")]
    RenameInArray {
        /// The path.
        path: String,
        /// The array.
        array: String,
    },
    /// A compound index meets two different arrays.
    #[error("cannot index parallel arrays `{first}` and `{second}`")]
    ParallelArrays {
        /// The path of one field of the index.
        first: String,
        /// The path of the other.
        second: String,
    },
    /// A filter fixes a field to two values, or a part of a field that it fixes as a whole, so that
    /// no document can be made of it.
    #[error("cannot make a document of the filter: `{0}` is fixed twice")]
    AmbiguousSeed(String),
    /// A stored document that cannot be read.
    #[error("malformed document: {0}")]
    Malformed(String),
}

impl Error {
    /// Whether the request is well-formed, and only the document that it met is in its way.
    pub fn is_about_document(&self) -> bool {
        matches!(
            self,
            Error::CannotCreateField { .. }
                | Error::WrongType { .. }
                | Error::Overflow { .. }
                | Error::TooMuchPadding { .. }
                | Error::Immutable(_)
                | Error::RenameInArray { .. }
                | Error::ParallelArrays { .. }
                | Error::Malformed(_)
        )
    }
}
