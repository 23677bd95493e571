//! Errors as answers: a status, and a message without names of the database.

use axum::{
    Json,
    extract::rejection::{JsonRejection, PathRejection, QueryRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use odm::ErrorKind;
use serde_json::{Value, json};

/// The result of a handler.
pub type Answer<T> = Result<T, Failure>;

/// Why a request has failed.
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    error: String,
    /// The fields of the request that are refused, each with the rule that it breaks.
    fields: Vec<Value>,
}

impl Failure {
    /// Makes a failure with a message for the client.
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Failure {
            status,
            error: error.into(),
            fields: Vec::new(),
        }
    }
}

/// Keeps the text of an [`odm::Error`] for the log, as it names collections, indexes and stored values. A client gets the class of the
/// error and the fields at fault.
impl From<odm::Error> for Failure {
    fn from(error: odm::Error) -> Self {
        let (status, message) = match error.kind() {
            ErrorKind::NotFound => (StatusCode::NOT_FOUND, "there is none of this id or number"),
            ErrorKind::DuplicateKey => (StatusCode::CONFLICT, "there is one like this already"),
            ErrorKind::Restricted => (StatusCode::CONFLICT, "something else still needs it"),
            ErrorKind::Stale => (
                StatusCode::PRECONDITION_FAILED,
                "it was changed since it was read: read it again",
            ),
            ErrorKind::DanglingReference => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "it refers to something that does not exist",
            ),
            ErrorKind::Invalid => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "some fields have values that are not allowed",
            ),
            ErrorKind::InvalidQuery | ErrorKind::InvalidRequest | ErrorKind::InvalidUpdate => (
                StatusCode::BAD_REQUEST,
                "the request does not fit what is stored",
            ),
            ErrorKind::Limit => (StatusCode::PAYLOAD_TOO_LARGE, "it is too large"),
            _ if error.is_retryable() => (StatusCode::SERVICE_UNAVAILABLE, "try it again"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "something went wrong"),
        };
        if status.is_server_error() {
            tracing::error!(%error, "request failed");
        } else {
            tracing::debug!(%error, "request refused");
        }
        let fields = match error.kind() {
            ErrorKind::DuplicateKey => {
                let path = error.location().and_then(|taken| taken.path.clone());
                path.map(|path| json!({ "path": path, "rule": "unique" }))
                    .into_iter()
                    .collect()
            }
            _ => error
                .violations()
                .iter()
                .map(|violation| json!({ "path": violation.path, "rule": violation.rule }))
                .collect(),
        };
        Failure {
            fields,
            ..Failure::new(status, message)
        }
    }
}

macro_rules! failures {
    ($($rejection:ident)*) => {$(
        impl From<$rejection> for Failure {
            fn from(rejection: $rejection) -> Self {
                Failure::new(rejection.status(), rejection.body_text())
            }
        }
    )*};
}
failures!(JsonRejection PathRejection QueryRejection);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut body = json!({ "error": self.error });
        if !self.fields.is_empty() {
            body["fields"] = self.fields.into();
        }
        (self.status, Json(body)).into_response()
    }
}
