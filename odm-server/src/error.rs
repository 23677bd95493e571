//! Errors of commands: MongoDB's codes, and how an error of the library becomes one.

use std::borrow::Cow;

use odm::{
    ErrorKind,
    bson::{
        RawArrayBuf, RawBson, RawBsonRef, RawDocumentBuf,
        raw::{CString, cstr},
        rawdoc,
    },
    mql,
};

pub(crate) type Result<T> = std::result::Result<T, CommandError>;

/// MongoDB's numbers of errors that the server itself makes.
pub(crate) mod code {
    pub(crate) const BAD_VALUE: i32 = 2;
    pub(crate) const UNKNOWN_ERROR: i32 = 8;
    pub(crate) const FAILED_TO_PARSE: i32 = 9;
    pub(crate) const UNAUTHORIZED: i32 = 13;
    pub(crate) const TYPE_MISMATCH: i32 = 14;
    pub(crate) const OVERFLOW: i32 = 15;
    pub(crate) const INVALID_LENGTH: i32 = 16;
    pub(crate) const PROTOCOL_ERROR: i32 = 17;
    pub(crate) const AUTHENTICATION_FAILED: i32 = 18;
    pub(crate) const ILLEGAL_OPERATION: i32 = 20;
    pub(crate) const INVALID_BSON: i32 = 22;
    pub(crate) const NAMESPACE_NOT_FOUND: i32 = 26;
    pub(crate) const INDEX_NOT_FOUND: i32 = 27;
    pub(crate) const CURSOR_NOT_FOUND: i32 = 43;
    pub(crate) const NAMESPACE_EXISTS: i32 = 48;
    pub(crate) const MAX_TIME_EXPIRED: i32 = 50;
    pub(crate) const DOLLAR_PREFIXED_FIELD_NAME: i32 = 52;
    pub(crate) const COMMAND_NOT_FOUND: i32 = 59;
    pub(crate) const CANNOT_CREATE_INDEX: i32 = 67;
    pub(crate) const INVALID_OPTIONS: i32 = 72;
    pub(crate) const INVALID_NAMESPACE: i32 = 73;
    pub(crate) const NO_REPLICATION: i32 = 76;
    pub(crate) const UNKNOWN_WRITE_CONCERN: i32 = 79;
    pub(crate) const INDEX_OPTIONS_CONFLICT: i32 = 85;
    pub(crate) const INDEX_KEY_SPECS_CONFLICT: i32 = 86;
    pub(crate) const SHUTDOWN_IN_PROGRESS: i32 = 91;
    pub(crate) const UNSATISFIABLE_WRITE_CONCERN: i32 = 100;
    pub(crate) const WRITE_CONFLICT: i32 = 112;
    pub(crate) const CONFLICTING_OPERATION_IN_PROGRESS: i32 = 117;
    pub(crate) const NOT_A_REPLICA_SET: i32 = 123;
    pub(crate) const EXCEEDED_MEMORY_LIMIT: i32 = 146;
    pub(crate) const COMMAND_NOT_SUPPORTED_ON_VIEW: i32 = 166;
    pub(crate) const OPTION_NOT_SUPPORTED_ON_VIEW: i32 = 167;
    pub(crate) const CLUSTER_TIME_FAILS_RATE_LIMITER: i32 = 206;
    pub(crate) const CURSOR_KILLED: i32 = 237;
    pub(crate) const NOT_IMPLEMENTED: i32 = 238;
    pub(crate) const SNAPSHOT_TOO_OLD: i32 = 239;
    pub(crate) const NO_SUCH_TRANSACTION: i32 = 251;
    pub(crate) const INVALID_RESUME_TOKEN: i32 = 260;
    pub(crate) const TOO_MANY_SESSIONS: i32 = 261;
    pub(crate) const CHANGE_STREAM_FATAL_ERROR: i32 = 280;
    pub(crate) const CHANGE_STREAM_HISTORY_LOST: i32 = 286;
    pub(crate) const TRANSACTION_EXCEEDED_LIFETIME: i32 = 290;
    pub(crate) const TRANSACTION_TOO_OLD: i32 = 225;
    pub(crate) const TRANSACTION_COMMITTED: i32 = 256;
    pub(crate) const NOT_IN_TRANSACTION: i32 = 263;
    pub(crate) const NOT_RETRYABLE: i32 = 50_768;
    pub(crate) const MECHANISM_UNAVAILABLE: i32 = 334;
    pub(crate) const AUTHENTICATED_BEFORE: i32 = 5_626_701;
    pub(crate) const UNSUPPORTED_OP_QUERY: i32 = 352;
    pub(crate) const BSON_OBJECT_TOO_LARGE: i32 = 10_334;
    pub(crate) const INTERRUPTED_AT_SHUTDOWN: i32 = 11_600;
    pub(crate) const INTERRUPTED: i32 = 11_601;
    pub(crate) const CURSOR_IN_USE: i32 = 12_051;
    pub(crate) const DISTINCT_TOO_BIG: i32 = 17_217;
    pub(crate) const OBJECT_EXPECTED: i32 = 40_228;
    pub(crate) const DUPLICATE_FIELD: i32 = 40_413;
    pub(crate) const MISSING_FIELD: i32 = 40_414;
    pub(crate) const UNKNOWN_FIELD: i32 = 40_415;
    pub(crate) const BODIES_IN_MESSAGE: i32 = 40_430;
    pub(crate) const ONLY_ON_REPLICA_SETS: i32 = 40_573;
    pub(crate) const STAGE_NOT_FIRST: i32 = 40_602;
    pub(crate) const OTHER_COMMAND: i32 = 40_606;
    pub(crate) const BAD_RESUME_TOKEN: i32 = 40_647;
    pub(crate) const SEVERAL_RESUME_OPTIONS: i32 = 40_674;
    pub(crate) const CURSOR_WITHOUT_SESSION: i32 = 50_736;
    pub(crate) const CURSOR_OF_SESSION: i32 = 50_737;
    pub(crate) const CURSOR_OF_OTHER_SESSION: i32 = 50_738;
    pub(crate) const EVENT_NOT_SPLIT: i32 = 7_182_500;
    pub(crate) const SPLIT_NOT_EMPTY: i32 = 7_182_800;
    pub(crate) const SPLIT_NOT_LAST: i32 = 7_182_802;
    pub(crate) const ARRAY_EXPECTED: i32 = 5_858_203;
}

/// The names of the codes that the query language has no name for.
const NAMES: &[(i32, &str)] = &[
    (code::UNAUTHORIZED, "Unauthorized"),
    (code::INVALID_LENGTH, "InvalidLength"),
    (code::PROTOCOL_ERROR, "ProtocolError"),
    (code::AUTHENTICATION_FAILED, "AuthenticationFailed"),
    (code::ILLEGAL_OPERATION, "IllegalOperation"),
    (code::NAMESPACE_NOT_FOUND, "NamespaceNotFound"),
    (code::INDEX_NOT_FOUND, "IndexNotFound"),
    (code::CURSOR_NOT_FOUND, "CursorNotFound"),
    (code::NAMESPACE_EXISTS, "NamespaceExists"),
    (code::MAX_TIME_EXPIRED, "MaxTimeMSExpired"),
    (code::COMMAND_NOT_FOUND, "CommandNotFound"),
    (code::CANNOT_CREATE_INDEX, "CannotCreateIndex"),
    (code::INVALID_OPTIONS, "InvalidOptions"),
    (code::INVALID_NAMESPACE, "InvalidNamespace"),
    (code::NO_REPLICATION, "NoReplicationEnabled"),
    (code::UNKNOWN_WRITE_CONCERN, "UnknownReplWriteConcern"),
    (code::INDEX_OPTIONS_CONFLICT, "IndexOptionsConflict"),
    (code::INDEX_KEY_SPECS_CONFLICT, "IndexKeySpecsConflict"),
    (code::SHUTDOWN_IN_PROGRESS, "ShutdownInProgress"),
    (
        code::UNSATISFIABLE_WRITE_CONCERN,
        "UnsatisfiableWriteConcern",
    ),
    (
        code::CONFLICTING_OPERATION_IN_PROGRESS,
        "ConflictingOperationInProgress",
    ),
    (code::NOT_A_REPLICA_SET, "NotAReplicaSet"),
    (code::EXCEEDED_MEMORY_LIMIT, "ExceededMemoryLimit"),
    (5, "GraphContainsCycle"),
    (165, "ViewDepthLimitExceeded"),
    (
        code::COMMAND_NOT_SUPPORTED_ON_VIEW,
        "CommandNotSupportedOnView",
    ),
    (
        code::OPTION_NOT_SUPPORTED_ON_VIEW,
        "OptionNotSupportedOnView",
    ),
    (
        code::CLUSTER_TIME_FAILS_RATE_LIMITER,
        "ClusterTimeFailsRateLimiter",
    ),
    (code::CURSOR_KILLED, "CursorKilled"),
    (code::SNAPSHOT_TOO_OLD, "SnapshotTooOld"),
    (code::NO_SUCH_TRANSACTION, "NoSuchTransaction"),
    (code::TOO_MANY_SESSIONS, "TooManyLogicalSessions"),
    (code::INVALID_RESUME_TOKEN, "InvalidResumeToken"),
    (code::CHANGE_STREAM_FATAL_ERROR, "ChangeStreamFatalError"),
    (code::CHANGE_STREAM_HISTORY_LOST, "ChangeStreamHistoryLost"),
    (code::INTERRUPTED_AT_SHUTDOWN, "InterruptedAtShutdown"),
    (code::INTERRUPTED, "Interrupted"),
    (
        code::TRANSACTION_EXCEEDED_LIFETIME,
        "TransactionExceededLifetimeLimitSeconds",
    ),
    (code::TRANSACTION_TOO_OLD, "TransactionTooOld"),
    (code::TRANSACTION_COMMITTED, "TransactionCommitted"),
    (
        code::NOT_IN_TRANSACTION,
        "OperationNotSupportedInTransaction",
    ),
    (code::MECHANISM_UNAVAILABLE, "MechanismUnavailable"),
    (code::UNSUPPORTED_OP_QUERY, "UnsupportedOpQueryCommand"),
    (code::CURSOR_IN_USE, "CursorInUse"),
    (code::MISSING_FIELD, "IDLFailedToParse"),
    (code::UNKNOWN_FIELD, "IDLUnknownField"),
];

/// The error of a command, or of one statement of it.
#[derive(Debug, Clone)]
pub(crate) struct CommandError {
    pub(crate) code: i32,
    message: String,
    details: Option<Box<Details>>,
    /// Tells drivers what to try again.
    label: Option<&'static str>,
}

/// The label of an error after which the whole transaction can be run again.
pub(crate) const TRANSIENT: &str = "TransientTransactionError";

/// The label of an error after which a driver resumes a change stream by itself.
pub(crate) const RESUMABLE: &str = "ResumableChangeStreamError";

/// The label of an error after which a change stream cannot go on.
const NON_RESUMABLE: &str = "NonResumableChangeStreamError";

/// The fields of an error besides its message.
#[derive(Debug, Clone)]
enum Details {
    /// The key that another document has.
    DuplicateKey {
        collection: String,
        index: String,
        pattern: RawDocumentBuf,
        value: RawDocumentBuf,
    },
    /// The rules that a document violates.
    Violations(RawDocumentBuf),
}

impl CommandError {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        CommandError {
            code,
            message: message.into(),
            details: None,
            label: None,
        }
    }

    pub(crate) fn with_label(mut self, label: &'static str) -> Self {
        self.label = Some(label);
        self
    }

    /// The error of a command in a transaction, after which a driver may run the transaction again.
    pub(crate) fn in_transaction(self) -> Self {
        if self.ends_transaction() {
            self.with_label(TRANSIENT)
        } else {
            self
        }
    }

    /// The error of a change stream, after which a driver may go on at another server, or at this one once it runs again, or must not.
    pub(crate) fn in_change_stream(self) -> Self {
        match self.code {
            code::SHUTDOWN_IN_PROGRESS => self.with_label(RESUMABLE),
            code::CHANGE_STREAM_FATAL_ERROR
            | code::CHANGE_STREAM_HISTORY_LOST
            | code::BSON_OBJECT_TOO_LARGE => self.with_label(NON_RESUMABLE),
            _ => self,
        }
    }

    /// Whether the transaction of the command is over, and can be run again.
    pub(crate) fn ends_transaction(&self) -> bool {
        matches!(
            self.code,
            code::WRITE_CONFLICT | code::NO_SUCH_TRANSACTION | code::TRANSACTION_EXCEEDED_LIFETIME
        )
    }

    /// The message alone.
    pub(crate) fn text(&self) -> &str {
        &self.message
    }

    /// The name of the code.
    pub(crate) fn code_name(&self) -> Cow<'static, str> {
        match NAMES.iter().find(|(code, _)| *code == self.code) {
            Some((_, name)) => (*name).into(),
            None => mql::code_name(self.code),
        }
    }

    /// The reply of a command in this database that has failed.
    pub(crate) fn reply(&self, database: &str) -> RawDocumentBuf {
        let mut reply = rawdoc! { "ok": 0.0, "errmsg": self.message(database), "code": self.code };
        reply.append(cstr!("codeName"), &*self.code_name());
        if let Some(label) = self.label {
            reply.append(cstr!("errorLabels"), RawArrayBuf::from_iter([label]));
        }
        self.append_details(&mut reply);
        reply
    }

    /// The error of the write concern of a command that was carried out.
    pub(crate) fn concern_error(&self) -> RawDocumentBuf {
        let mut error = rawdoc! { "code": self.code };
        error.append(cstr!("codeName"), &*self.code_name());
        error.append(cstr!("errmsg"), self.text());
        error
    }

    /// The error of the statement at a position of a write command, with its message or without.
    pub(crate) fn write_error(
        &self,
        database: &str,
        index: i32,
        with_message: bool,
    ) -> RawDocumentBuf {
        let message = match with_message {
            true => self.message(database),
            false => String::new(),
        };
        let mut error = rawdoc! { "index": index, "code": self.code, "errmsg": message };
        self.append_details(&mut error);
        error
    }

    /// The message. That of a duplicate key begins as MongoDB's does, since programs look at it.
    fn message(&self, database: &str) -> String {
        match self.details.as_deref() {
            Some(Details::DuplicateKey {
                collection,
                index,
                value,
                ..
            }) => format!(
                "E11000 duplicate key error collection: {database}.{collection} index: {index} dup key: {}; {}",
                mql::show(RawBsonRef::Document(value)),
                self.message
            ),
            Some(Details::Violations(_)) | None => self.message.clone(),
        }
    }

    fn append_details(&self, reply: &mut RawDocumentBuf) {
        match self.details.as_deref() {
            None => {}
            Some(Details::DuplicateKey { pattern, value, .. }) => {
                reply.append(cstr!("keyPattern"), pattern);
                reply.append(cstr!("keyValue"), value);
            }
            Some(Details::Violations(details)) => reply.append(cstr!("errInfo"), details),
        }
    }
}

impl From<odm::Error> for CommandError {
    fn from(error: odm::Error) -> Self {
        CommandError {
            code: error.code().unwrap_or_else(|| code_of(&error)),
            message: match error.kind() {
                ErrorKind::SnapshotEnded => {
                    "Read timestamp is older than the oldest available timestamp".to_owned()
                }
                _ => error.to_string(),
            },
            details: details_of(&error).map(Box::new),
            label: None,
        }
    }
}

impl From<mql::Error> for CommandError {
    fn from(error: mql::Error) -> Self {
        CommandError::new(error.code(), error.to_string())
    }
}

impl From<odm::bson::error::Error> for CommandError {
    fn from(error: odm::bson::error::Error) -> Self {
        let message = format!("value is not well-formed BSON: {error}");
        CommandError::new(code::INVALID_BSON, message)
    }
}

/// The code of an error of the library for which MongoDB has no error of its own.
fn code_of(error: &odm::Error) -> i32 {
    match error.kind() {
        ErrorKind::Closed => code::SHUTDOWN_IN_PROGRESS,
        // A command that came after a later one: a document that is stale has its place.
        ErrorKind::Stale if error.location().is_none() => code::TRANSACTION_TOO_OLD,
        ErrorKind::TransactionExpired => code::TRANSACTION_EXCEEDED_LIFETIME,
        ErrorKind::TransactionAborted if error.is_retryable() => code::WRITE_CONFLICT,
        ErrorKind::TransactionAborted => code::NO_SUCH_TRANSACTION,
        ErrorKind::Migrating => code::CONFLICTING_OPERATION_IN_PROGRESS,
        ErrorKind::SnapshotEnded => code::SNAPSHOT_TOO_OLD,
        ErrorKind::Decode => code::INVALID_BSON,
        ErrorKind::Locked
        | ErrorKind::Corrupt
        | ErrorKind::Io
        | ErrorKind::Refused
        | ErrorKind::Unavailable
        | ErrorKind::Lagged => code::UNKNOWN_ERROR,
        // Requests that the data or the store refuses. The classes of errors can grow.
        _ => code::BAD_VALUE,
    }
}

fn details_of(error: &odm::Error) -> Option<Details> {
    if !error.violations().is_empty() {
        let mut rules = RawArrayBuf::new();
        for violation in error.violations() {
            rules.push(rawdoc! {
                "path": violation.path.as_str(),
                "rule": violation.rule.as_str(),
                "message": violation.message.as_str(),
            });
        }
        let mut details = RawDocumentBuf::new();
        if let Some(id) = error.location().and_then(|location| location.id.as_ref()) {
            details.append(cstr!("failingDocumentId"), id.as_raw_bson_ref());
        }
        details.append(cstr!("details"), rawdoc! { "violations": rules });
        return Some(Details::Violations(details));
    }
    let key = match error.location() {
        Some(location) if error.is_duplicate_key() => location,
        _ => return None,
    };
    let (paths, id) = (key.path.as_ref()?, key.id.as_ref()?);
    let index = key.index.clone().unwrap_or_else(|| "_id_".to_owned());
    let paths: Vec<&str> = paths.split(", ").collect();
    let mut pattern = RawDocumentBuf::new();
    for path in &paths {
        if let Ok(path) = CString::try_from(*path) {
            pattern.append(path, 1);
        }
    }
    let value = match (&*paths, id) {
        ([_], id) => keyed(paths[0], id),
        (_, RawBson::Document(key)) => key.clone(),
        (_, _) => RawDocumentBuf::new(),
    };
    Some(Details::DuplicateKey {
        collection: key.collection.clone(),
        index,
        pattern,
        value,
    })
}

/// The document of one field.
fn keyed(path: &str, value: &RawBson) -> RawDocumentBuf {
    let mut document = RawDocumentBuf::new();
    if let Ok(path) = CString::try_from(path) {
        document.append(path, value.as_raw_bson_ref());
    }
    document
}
