//! Errors, as answers without names of the database.

use std::time::Duration;

use axum::{
    Json,
    extract::rejection::{FormRejection, JsonRejection, PathRejection, QueryRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use odm::ErrorKind;

/// The result of a handler.
pub type Answer<T> = Result<T, Failure>;

/// The failure of a request: a status, and the messages for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The status of the answer.
    pub status: StatusCode,
    /// Sentences for the caller.
    pub messages: Vec<String>,
    /// When the same request may succeed.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// Makes a failure with one sentence.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Failure {
            status,
            messages: vec![message.into()],
            retry_after: None,
        }
    }

    /// The failure of a request for a missing document.
    pub fn not_found(what: &str) -> Self {
        Failure::new(StatusCode::NOT_FOUND, format!("{what} not found"))
    }

    /// The failure of a request that needs a signed-in user.
    pub fn unauthorized(message: &str) -> Self {
        Failure::new(StatusCode::UNAUTHORIZED, message)
    }

    /// The failure of a change of another user's document.
    pub fn forbidden(what: &str) -> Self {
        let message = format!("{what} can be changed by its author only");
        Failure::new(StatusCode::FORBIDDEN, message)
    }

    /// The failure of a request with invalid values.
    pub fn invalid(message: impl Into<String>) -> Self {
        Failure::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// The failure of a request that comes too early.
    pub fn too_many(wait: Duration) -> Self {
        let message = "there have been too many attempts: try again later";
        Failure::new(StatusCode::TOO_MANY_REQUESTS, message).after(wait)
    }

    fn after(self, wait: Duration) -> Self {
        Failure {
            retry_after: Some(wait),
            ..self
        }
    }

    /// The headers of the answer that tell a client what to do next.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Token"));
        }
        if let Some(wait) = self.retry_after {
            // Whole seconds, and not before the time.
            let seconds = wait.as_secs() + 1;
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        headers
    }

    /// The failure of a change of a document that was changed meanwhile.
    pub fn stale() -> Self {
        let message = "article has been changed since it was read";
        Failure::new(StatusCode::PRECONDITION_FAILED, message)
    }
}

impl From<odm::Error> for Failure {
    fn from(error: odm::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Failure::not_found("document"),
            ErrorKind::DuplicateKey => {
                let path = error.location().and_then(|place| place.path.as_deref());
                // A folded text is computed from the text that the client has sent.
                let path = path.map(|path| path.trim_end_matches("_folded"));
                Failure::invalid(match path {
                    // The slug is made of the title.
                    Some(path @ ("username" | "email" | "slug")) => {
                        format!("{} has already been taken", shown(path))
                    }
                    _ => "it is there already".to_owned(),
                })
            }
            ErrorKind::Invalid => {
                let violations = error.violations().iter();
                let messages = violations
                    .map(|violation| format!("{} {}", shown(&violation.path), said(violation)));
                Failure {
                    status: StatusCode::UNPROCESSABLE_ENTITY,
                    messages: messages.collect(),
                    retry_after: None,
                }
            }
            // A cursor of another list.
            ErrorKind::InvalidRequest => {
                Failure::new(StatusCode::BAD_REQUEST, "position is not one of this list")
            }
            // A referenced document was deleted after it had been read.
            ErrorKind::DanglingReference => Failure::not_found("document"),
            ErrorKind::Stale => Failure::stale(),
            ErrorKind::Limit => Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "request is too large"),
            ErrorKind::Closed => unavailable(),
            _ if error.is_retryable() => unavailable(),
            _ => {
                tracing::error!(kind = ?error.kind(), %error, "request failed");
                Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "something went wrong")
            }
        }
    }
}

fn unavailable() -> Failure {
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, "try again").after(Duration::ZERO)
}

/// The field of the API for a stored path.
fn shown(path: &str) -> &str {
    match path.split('.').next().unwrap_or(path) {
        "slug" => "title",
        "text" => "body",
        "password_hash" => "password",
        "tags" => "tagList",
        "_id" => "tag",
        field => field,
    }
}

/// The message about an invalid value, without the value.
fn said(violation: &odm::mql::Violation) -> &str {
    match violation.rule.as_str() {
        "minLength" => "is too short",
        "maxLength" => "is too long",
        "maxItems" => "has too many entries",
        "uniqueItems" => "has an entry twice",
        // The message comes from the function of the model.
        "with" => &violation.message,
        _ => "is empty or malformed",
    }
}

impl From<JsonRejection> for Failure {
    fn from(rejection: JsonRejection) -> Self {
        Failure::new(rejection.status(), rejection.body_text())
    }
}

impl From<FormRejection> for Failure {
    fn from(rejection: FormRejection) -> Self {
        Failure::new(rejection.status(), rejection.body_text())
    }
}

impl From<QueryRejection> for Failure {
    fn from(rejection: QueryRejection) -> Self {
        Failure::invalid(rejection.body_text())
    }
}

impl From<PathRejection> for Failure {
    fn from(_: PathRejection) -> Self {
        Failure::not_found("page")
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "errors": { "body": self.messages } });
        (self.status, self.headers(), Json(body)).into_response()
    }
}
