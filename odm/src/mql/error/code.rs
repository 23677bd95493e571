//! MongoDB's numbers and names of errors.

use std::borrow::Cow;

pub(in crate::mql) const BAD_VALUE: i32 = 2;
pub(in crate::mql) const FAILED_TO_PARSE: i32 = 9;
pub(in crate::mql) const TYPE_MISMATCH: i32 = 14;
pub(in crate::mql) const OVERFLOW: i32 = 15;
pub(crate) const INVALID_BSON: i32 = 22;
pub(in crate::mql) const PATH_NOT_VIABLE: i32 = 28;
pub(in crate::mql) const CANNOT_BACKFILL_ARRAY: i32 = 34;
pub(in crate::mql) const CONFLICTING_UPDATE_OPERATORS: i32 = 40;
pub(crate) const DOLLAR_PREFIXED_FIELD_NAME: i32 = 52;
pub(crate) const INVALID_ID_FIELD: i32 = 53;
pub(in crate::mql) const NOT_SINGLE_VALUE_FIELD: i32 = 54;
pub(in crate::mql) const EMPTY_FIELD_NAME: i32 = 56;
pub(in crate::mql) const IMMUTABLE_FIELD: i32 = 66;
pub(in crate::mql) const INVALID_PIPELINE_OPERATOR: i32 = 168;
pub(in crate::mql) const CANNOT_INDEX_PARALLEL_ARRAYS: i32 = 171;
pub(in crate::mql) const QUERY_FEATURE_NOT_ALLOWED: i32 = 224;
pub(in crate::mql) const NOT_IMPLEMENTED: i32 = 238;
pub(crate) const OBJECT_TOO_LARGE: i32 = 10_334;
/// A NUL in the path of an update.
pub(in crate::mql) const NUL_IN_PATH: i32 = 9_867_600;

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
    (DOLLAR_PREFIXED_FIELD_NAME, "DollarPrefixedFieldName"),
    (INVALID_ID_FIELD, "InvalidIdField"),
    (NOT_SINGLE_VALUE_FIELD, "NotSingleValueField"),
    (EMPTY_FIELD_NAME, "EmptyFieldName"),
    (IMMUTABLE_FIELD, "ImmutableField"),
    (112, "WriteConflict"),
    (121, "DocumentValidationFailure"),
    (INVALID_PIPELINE_OPERATOR, "InvalidPipelineOperator"),
    (CANNOT_INDEX_PARALLEL_ARRAYS, "CannotIndexParallelArrays"),
    (QUERY_FEATURE_NOT_ALLOWED, "QueryFeatureNotAllowed"),
    (NOT_IMPLEMENTED, "NotImplemented"),
    (OBJECT_TOO_LARGE, "BSONObjectTooLarge"),
    (11_000, "DuplicateKey"),
];

/// The name of a code. Most of the codes over 10,000 are named by their number.
pub(crate) fn name(code: i32) -> Cow<'static, str> {
    match NAMES.iter().find(|(other, _)| *other == code) {
        Some((_, name)) => (*name).into(),
        None => format!("Location{code}").into(),
    }
}
