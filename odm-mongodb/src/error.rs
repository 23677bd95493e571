//! The translation of the driver's errors to errors of the library.

use std::time::Duration;

use ::mongodb::error::{
    Error as DriverError, ErrorKind as DriverKind, TRANSIENT_TRANSACTION_ERROR,
};
use bson::{RawBson, RawBsonRef, RawDocument};
use odm_mql::Direction;
use odm_store::{Error, ErrorKind, IndexSpec, Result};

use super::reply::raw_number;

/// The subject of an operation, for its errors.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) collection: &'a str,
    /// The operation has a filter that can fail on a document.
    pub(super) can_fail: bool,
    /// It shows fields by expressions and positions, which can fail too.
    pub(super) shows: bool,
}

impl<'a> About<'a> {
    /// The subject of an operation without a filter.
    pub(super) fn collection(collection: &'a str) -> Self {
        About {
            collection,
            can_fail: false,
            shows: false,
        }
    }
}

/// MongoDB's codes of errors.
pub(super) mod code {
    pub(in super::super) const BAD_VALUE: i32 = 2;
    pub(in super::super) const UNAUTHORIZED: i32 = 13;
    pub(in super::super) const NO_SUCH_TRANSACTION: i32 = 251;
    pub(in super::super) const INVALID_NAMESPACE: i32 = 73;
    pub(in super::super) const WRITE_CONFLICT: i32 = 112;
    pub(in super::super) const VALIDATION: i32 = 121;
    pub(in super::super) const PARALLEL_ARRAYS: i32 = 171;
    pub(in super::super) const DUPLICATE_KEY: i32 = 11_000;
    pub(in super::super) const TOO_LARGE: i32 = 10_334;
    pub(in super::super) const FAILED_TO_PARSE: i32 = 9;
    pub(in super::super) const NO_POSITION: i32 = 51_246;
    pub(in super::super) const COMMAND_NOT_FOUND: i32 = 59;
    pub(in super::super) const COMMAND_NOT_SUPPORTED: i32 = 115;
    pub(in super::super) const UNKNOWN_FIELD: i32 = 40_415;
    pub(in super::super) const TOO_LARGE_BY_UPDATE: i32 = 17_419;
    pub(in super::super) const SNAPSHOT_TOO_OLD: i32 = 239;
    pub(in super::super) const SNAPSHOT_UNAVAILABLE: i32 = 246;
    /// The oplog does not go back to a token, or the event after it cannot be shown, for instance because of its size.
    pub(in super::super) const NO_CHANGES_AFTER: [i32; 3] = [280, 286, TOO_LARGE];
    /// A token that the server has not made, also a malformed one.
    pub(in super::super) const NO_TOKEN: [i32; 5] =
        [260, BAD_VALUE, FAILED_TO_PARSE, 40_649, 50_811];
    /// The member is not the primary any more, shuts down, cannot reach the others, or has waited for them too long.
    pub(in super::super) const AWAY: [i32; 15] = [
        6, 7, 24, 89, 91, 133, 134, 189, 262, 9_001, 10_107, 11_600, 11_602, 13_435, 13_436,
    ];
}

/// Translates an error of the driver to an error of the library.
pub(super) fn translate(error: DriverError, about: Option<About<'_>>) -> Error {
    // Also in a transaction: the driver has waited for the server as long as it was told to.
    if is_unreachable(&error) {
        return unavailable(error);
    }
    if error.contains_label(TRANSIENT_TRANSACTION_ERROR) {
        let message = format!(
            "transaction lost: another one has changed a document that it writes, or the server went away; run it again: {error}"
        );
        return caused(ErrorKind::TransactionAborted, message, error).retryable();
    }
    let code = match code_of(&error) {
        Some(code) => code,
        None if is_away(&error) => return unavailable(error),
        None => 0,
    };
    if code::AWAY.contains(&code) {
        return unavailable(error);
    }
    let kind = kind_of(code, about);
    let message = format!("the MongoDB server refused: {error}");
    let translated = caused(kind, message, error);
    let translated = match about {
        Some(about) => translated.at(about.collection, None, None),
        None => translated,
    };
    match kind {
        ErrorKind::SnapshotEnded => translated.retryable(),
        // A failed command ends its transaction.
        _ => translated.ending_transaction(),
    }
}

/// An error caused by an error of the driver, with the server's code.
pub(super) fn caused(kind: ErrorKind, message: String, cause: DriverError) -> Error {
    let code = code_of(&cause);
    let error = Error::new(kind, message).with_source(cause);
    match code {
        Some(code) => error.with_code(code),
        None => error,
    }
}

/// The server's code, if it has refused a command.
pub(super) fn code_of(error: &DriverError) -> Option<i32> {
    match &*error.kind {
        DriverKind::Command(command) => Some(command.code),
        _ => None,
    }
}

fn is_away(error: &DriverError) -> bool {
    matches!(
        &*error.kind,
        DriverKind::Io(_)
            | DriverKind::ConnectionPoolCleared { .. }
            | DriverKind::DnsResolve { .. }
    )
}

/// Whether the server does not support `bulkWrite`, or refuses it for now: it is older than 8.0, or has an older feature compatibility
/// version.
pub(super) fn lacks_bulk_write(error: &DriverError) -> bool {
    matches!(
        code_of(error),
        Some(code::COMMAND_NOT_FOUND | code::COMMAND_NOT_SUPPORTED | code::UNKNOWN_FIELD)
    )
}

/// Whether the server cannot read the requested state, as after a change of a collection's indexes.
pub(super) fn has_no_snapshot(error: &DriverError) -> bool {
    matches!(
        code_of(error),
        Some(code::SNAPSHOT_TOO_OLD | code::SNAPSHOT_UNAVAILABLE)
    )
}

/// The error of a unit that is to be run again.
pub(super) fn conflict(message: &str) -> Error {
    Error::new(
        ErrorKind::TransactionAborted,
        format!("transaction lost: {message}"),
    )
    .retryable()
}

/// The time after which a server ends a transaction, about: its `transactionLifetimeLimitSeconds` are 60 by default.
const LIFETIME: Duration = Duration::from_secs(50);

/// The error of a request in a transaction of this age: a transaction that is lost at its lifetime may be lost again each time that it is
/// run.
pub(super) fn after(age: Duration, error: Error) -> Error {
    if error.is_conflict() && age > LIFETIME {
        return too_long(error);
    }
    error
}

#[cold]
fn too_long(error: Error) -> Error {
    let message = "transaction lost: it takes longer than the `transactionLifetimeLimitSeconds` of the MongoDB server, 60 by default; \
                   raise them, do less in one transaction, or let copies follow later by `refresh = \"later\"`";
    let lost = Error::new(ErrorKind::TransactionAborted, message);
    lost.with_source(error).retryable()
}

/// Whether the driver has found no server in the time that it has for that.
pub(super) fn is_unreachable(error: &DriverError) -> bool {
    matches!(&*error.kind, DriverKind::ServerSelection { .. })
}

fn unavailable(error: DriverError) -> Error {
    let message = format!("the MongoDB server cannot be reached: {error}");
    caused(ErrorKind::Unavailable, message, error).retryable()
}

/// The error of a commit that the server has neither confirmed nor refused. The transaction must not be run again.
pub(super) fn unconfirmed(error: DriverError) -> Error {
    let message = format!(
        "write not confirmed: the MongoDB server has not answered its commit, so that it may be stored or not; read what \
         it writes before it is made again: {error}"
    );
    caused(ErrorKind::Unavailable, message, error)
}

fn kind_of(code: i32, about: Option<About<'_>>) -> ErrorKind {
    match code {
        code::VALIDATION => ErrorKind::Invalid,
        code::PARALLEL_ARRAYS => ErrorKind::InvalidUpdate,
        code::TOO_LARGE | code::TOO_LARGE_BY_UPDATE => ErrorKind::Limit,
        code::INVALID_NAMESPACE => ErrorKind::Schema,
        code::WRITE_CONFLICT | code::NO_SUCH_TRANSACTION => ErrorKind::TransactionAborted,
        code::SNAPSHOT_TOO_OLD | code::SNAPSHOT_UNAVAILABLE => ErrorKind::SnapshotEnded,
        0 => ErrorKind::Unavailable,
        code::UNAUTHORIZED => ErrorKind::Refused,
        // A division by zero has the code of a bad value, too.
        _ if about.is_some_and(|about| about.can_fail) => ErrorKind::FailedFilter,
        _ if about.is_some_and(|about| about.shows) => ErrorKind::InvalidQuery,
        code::FAILED_TO_PARSE | code::BAD_VALUE | code::NO_POSITION => ErrorKind::InvalidQuery,
        _ => ErrorKind::Refused,
    }
}

/// The error of one statement of a write, as the server returns it.
pub(super) fn of_statement(collection: &str, statement: &RawDocument) -> Error {
    let code = raw_number(statement, "code") as i32;
    let text = statement.get_str("errmsg").unwrap_or("no message");
    if code == code::DUPLICATE_KEY {
        return duplicate_key(collection, statement, text);
    }
    let kind = kind_of(code, None);
    let error = Error::new(kind, format!("write to `{collection}` refused: {text}"));
    let error = error.at(collection, None, None);
    match kind {
        ErrorKind::TransactionAborted => error.retryable(),
        _ => error,
    }
}

fn duplicate_key(collection: &str, statement: &RawDocument, text: &str) -> Error {
    let document = |name: &str| statement.get_document(name).ok();
    let (Some(pattern), Some(value)) = (document("keyPattern"), document("keyValue")) else {
        return Error::new(ErrorKind::DuplicateKey, format!("duplicate key: {text}"))
            .at(collection, None, None);
    };
    let keys: Vec<(String, Direction)> = pattern
        .iter()
        .flatten()
        .map(|(path, direction)| {
            let is_down = matches!(direction, RawBsonRef::Int32(-1) | RawBsonRef::Int64(-1))
                || direction.as_f64().is_some_and(|number| number < 0.0);
            let direction = if is_down {
                Direction::Descending
            } else {
                Direction::Ascending
            };
            (path.as_str().to_owned(), direction)
        })
        .collect();
    let values: Vec<RawBson> = (keys.iter())
        .map(|(path, _)| {
            value
                .get(path)
                .ok()
                .flatten()
                .map_or(RawBson::Null, RawBson::from)
        })
        .collect();
    if let ([(path, _)], [id]) = (&keys[..], &values[..])
        && path == "_id"
    {
        return Error::duplicate_id(collection, id.as_raw_bson_ref());
    }
    let name = text
        .split("index: ")
        .nth(1)
        .and_then(|rest| rest.split(" dup key").next());
    let index = IndexSpec {
        name: super::schema::declared_name(name.unwrap_or_default()).to_owned(),
        keys,
        unique: true,
        present_only: false,
        case_insensitive: false,
        collation: None,
        filter: None,
    };
    index.duplicate_key(collection, &values)
}

/// The result of a call of the driver.
pub(super) fn driver<T>(result: Result<T, DriverError>, about: About<'_>) -> Result<T> {
    result.map_err(|error| translate(error, Some(about)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the codes are from the server's `error_codes.yml`.
    const KINDS: &[(i32, &str, ErrorKind)] = &[
        (121, "DocumentValidationFailure", ErrorKind::Invalid),
        (10_334, "BSONObjectTooLarge", ErrorKind::Limit),
        // An update, up to 8.0.
        (17_419, "Location17419", ErrorKind::Limit),
        (239, "SnapshotTooOld", ErrorKind::SnapshotEnded),
        (246, "SnapshotUnavailable", ErrorKind::SnapshotEnded),
        (67, "CannotCreateIndex", ErrorKind::Refused),
        (85, "IndexOptionsConflict", ErrorKind::Refused),
        (86, "IndexKeySpecsConflict", ErrorKind::Refused),
        (115, "CommandNotSupported", ErrorKind::Refused),
        (241, "ConversionFailure", ErrorKind::Refused),
        (
            263,
            "OperationNotSupportedInTransaction",
            ErrorKind::Refused,
        ),
    ];

    #[test]
    fn a_code_of_the_server_is_of_the_kind_that_the_page_of_commands_states() {
        for (code, name, kind) in KINDS {
            assert_eq!(kind_of(*code, None), *kind, "{code} {name}");
            let about = Some(About::collection("parts"));
            assert_eq!(kind_of(*code, about), *kind, "{code} {name}");
        }
    }

    #[test]
    fn the_error_of_a_lost_transaction_that_was_long_names_the_limit_of_the_server() {
        let lost = || conflict("another one has changed a document that it writes");
        let late = after(LIFETIME + Duration::from_secs(1), lost());
        assert!(late.is_conflict());
        let limit = "transactionLifetimeLimitSeconds";
        assert!(late.to_string().contains(limit), "{late}");
        let soon = after(Duration::from_secs(1), lost());
        assert_eq!(soon.to_string(), lost().to_string());
        let other = Error::new(ErrorKind::Refused, "no privilege");
        assert_eq!(after(LIFETIME * 2, other).to_string(), "no privilege");
    }

    #[test]
    fn an_error_of_an_expression_is_of_its_filter_and_one_of_a_document_is_not() {
        let about = About {
            can_fail: true,
            ..About::collection("parts")
        };
        let kind = |code| kind_of(code, Some(about));
        // A conversion, and a division by zero.
        assert_eq!(kind(241), ErrorKind::FailedFilter);
        assert_eq!(kind(code::BAD_VALUE), ErrorKind::FailedFilter);
        assert_eq!(kind_of(code::BAD_VALUE, None), ErrorKind::InvalidQuery);
        assert_eq!(kind(17_419), ErrorKind::Limit);
        assert_eq!(kind(121), ErrorKind::Invalid);
        assert_eq!(kind(246), ErrorKind::SnapshotEnded);
        assert_eq!(kind(code::UNAUTHORIZED), ErrorKind::Refused);
    }
}
