//! MongoDB's numbers and names of errors.

use std::borrow::Cow;

pub(crate) const BAD_VALUE: i32 = 2;
pub(crate) const FAILED_TO_PARSE: i32 = 9;
pub(crate) const TYPE_MISMATCH: i32 = 14;
pub(crate) const OVERFLOW: i32 = 15;
pub const INVALID_BSON: i32 = 22;
pub(crate) const PATH_NOT_VIABLE: i32 = 28;
pub(crate) const CANNOT_BACKFILL_ARRAY: i32 = 34;
pub(crate) const CONFLICTING_UPDATE_OPERATORS: i32 = 40;
pub(crate) const MAX_TIME_EXPIRED: i32 = 50;
pub const DOLLAR_PREFIXED_FIELD_NAME: i32 = 52;
pub const INVALID_ID_FIELD: i32 = 53;
pub(crate) const NOT_SINGLE_VALUE_FIELD: i32 = 54;
pub(crate) const EMPTY_FIELD_NAME: i32 = 56;
pub(crate) const IMMUTABLE_FIELD: i32 = 66;
pub(crate) const INVALID_OPTIONS: i32 = 72;
pub(crate) const INVALID_NAMESPACE: i32 = 73;
pub(crate) const EXCEEDED_MEMORY_LIMIT: i32 = 146;
pub(crate) const INCOMPATIBLE_COLLATION_VERSION: i32 = 161;
pub(crate) const INVALID_PIPELINE_OPERATOR: i32 = 168;
pub(crate) const CANNOT_INDEX_PARALLEL_ARRAYS: i32 = 171;
pub(crate) const QUERY_FEATURE_NOT_ALLOWED: i32 = 224;
pub(crate) const TOO_MANY_SUB_PIPELINES: i32 = 232;
pub(crate) const NOT_IMPLEMENTED: i32 = 238;
pub(crate) const CONVERSION_FAILURE: i32 = 241;
pub const MEMORY_LIMIT: i32 = 292;
pub const OBJECT_TOO_LARGE: i32 = 10_334;
pub(crate) const UNKNOWN_STAGE: i32 = 40_324;
/// A NUL in the path of an update.
pub(crate) const NUL_IN_PATH: i32 = 9_867_600;

/// The names of the codes that have one.
const NAMES: &[(i32, &str)] = &[
    (BAD_VALUE, "BadValue"),
    (8, "UnknownError"),
    (FAILED_TO_PARSE, "FailedToParse"),
    (TYPE_MISMATCH, "TypeMismatch"),
    (OVERFLOW, "Overflow"),
    (INVALID_BSON, "InvalidBSON"),
    (PATH_NOT_VIABLE, "PathNotViable"),
    (CANNOT_BACKFILL_ARRAY, "CannotBackfillArray"),
    (CONFLICTING_UPDATE_OPERATORS, "ConflictingUpdateOperators"),
    (MAX_TIME_EXPIRED, "MaxTimeMSExpired"),
    (DOLLAR_PREFIXED_FIELD_NAME, "DollarPrefixedFieldName"),
    (INVALID_ID_FIELD, "InvalidIdField"),
    (NOT_SINGLE_VALUE_FIELD, "NotSingleValueField"),
    (EMPTY_FIELD_NAME, "EmptyFieldName"),
    (IMMUTABLE_FIELD, "ImmutableField"),
    (INVALID_OPTIONS, "InvalidOptions"),
    (112, "WriteConflict"),
    (121, "DocumentValidationFailure"),
    (EXCEEDED_MEMORY_LIMIT, "ExceededMemoryLimit"),
    (
        INCOMPATIBLE_COLLATION_VERSION,
        "IncompatibleCollationVersion",
    ),
    (INVALID_PIPELINE_OPERATOR, "InvalidPipelineOperator"),
    (CANNOT_INDEX_PARALLEL_ARRAYS, "CannotIndexParallelArrays"),
    (QUERY_FEATURE_NOT_ALLOWED, "QueryFeatureNotAllowed"),
    (TOO_MANY_SUB_PIPELINES, "MaxSubPipelineDepthExceeded"),
    (NOT_IMPLEMENTED, "NotImplemented"),
    (CONVERSION_FAILURE, "ConversionFailure"),
    (MEMORY_LIMIT, "QueryExceededMemoryLimitNoDiskUseAllowed"),
    (OBJECT_TOO_LARGE, "BSONObjectTooLarge"),
    (11_000, "DuplicateKey"),
];

/// The name of a code. Most of the codes over 10,000 are named by their number.
#[doc(hidden)]
pub fn name(code: i32) -> Cow<'static, str> {
    match NAMES.iter().find(|(other, _)| *other == code) {
        Some((_, name)) => (*name).into(),
        None => format!("Location{code}").into(),
    }
}
