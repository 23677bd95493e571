//! The JSON of the specification.

mod articles;
mod comments;
mod users;
mod views;

use axum::{
    Router,
    extract::{FromRequest, FromRequestParts, Path, Query},
    http::{HeaderValue, StatusCode, header},
    middleware::map_response,
    response::Response,
    routing::{delete, get, post},
};

use crate::{App, failure::Failure};

/// The routes of the API.
pub fn router() -> Router<App> {
    Router::new()
        .route("/users", post(users::register))
        .route("/users/login", post(users::login))
        .route("/user", get(users::current).put(users::update))
        .route("/profiles/{username}", get(users::profile))
        .route(
            "/profiles/{username}/follow",
            post(users::follow).delete(users::unfollow),
        )
        .route("/articles", get(articles::list).post(articles::publish))
        .route("/articles/feed", get(articles::feed))
        .route(
            "/articles/{slug}",
            get(articles::show)
                .put(articles::edit)
                .delete(articles::remove),
        )
        .route(
            "/articles/{slug}/favorite",
            post(articles::favorite).delete(articles::unfavorite),
        )
        .route(
            "/articles/{slug}/comments",
            get(comments::list).post(comments::write),
        )
        .route("/articles/{slug}/comments/{id}", delete(comments::remove))
        .route("/tags", get(articles::tags))
        .fallback(async || Failure::not_found("page"))
        .method_not_allowed_fallback(async || {
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, "method is not allowed here")
        })
        .layer(map_response(without_cache))
}

/// Answers depend on the user. The client may keep an answer with an ETag, and asks each time whether it is still current.
async fn without_cache(mut response: Response) -> Response {
    let value = match response.headers().contains_key(header::ETAG) {
        true => HeaderValue::from_static("private, no-cache"),
        false => HeaderValue::from_static("no-store"),
    };
    response.headers_mut().insert(header::CACHE_CONTROL, value);
    response
}

/// A body in JSON.
#[derive(Debug, FromRequest)]
#[from_request(via(axum::Json), rejection(Failure))]
struct Json<T>(T);

/// The parameters of a query.
#[derive(Debug, FromRequestParts)]
#[from_request(via(Query), rejection(Failure))]
struct Parameters<T>(T);

/// The variable segments of a path.
#[derive(Debug, FromRequestParts)]
#[from_request(via(Path), rejection(Failure))]
struct Segments<T>(T);
