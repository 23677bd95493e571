//! The pages for a browser, over the same functions as the API.
//!
//! All text is escaped by the templates. A page works without its script, which only keeps it up to date.

mod account;
mod article;
mod editor;
mod layout;
mod list;
mod live;

use axum::{
    Router,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    middleware::{Next, from_fn, map_response},
    response::{Html, IntoResponse, Redirect, Response},
    routing::{get, post},
};
use maud::{Markup, html};

use crate::{App, auth::LIFETIME, failure::Failure, models::User};

/// The routes of the pages.
pub fn router() -> Router<App> {
    let file = |kind: &'static str, text: &'static str| {
        get(move || async move { ([(header::CONTENT_TYPE, kind)], text) })
    };
    Router::new()
        .route("/", get(list::home))
        .route("/profile/{username}", get(list::profile))
        .route("/profile/{username}/follow", post(account::follow))
        .route("/article/{slug}", get(article::show).post(article::comment))
        .route("/article/{slug}/favorite", post(article::favorite))
        .route("/article/{slug}/delete", post(article::remove))
        .route(
            "/article/{slug}/comments/{id}/delete",
            post(article::remove_comment),
        )
        .route("/editor", get(editor::empty).post(editor::publish))
        .route("/editor/{slug}", get(editor::filled).post(editor::save))
        .route("/sign-up", get(account::sign_up).post(account::register))
        .route("/sign-in", get(account::sign_in).post(account::login))
        .route("/sign-out", post(account::sign_out))
        .route("/settings", get(account::settings).post(account::save))
        .route("/live", get(live::lists))
        .route("/live/{id}", get(live::article))
        .route(
            "/style.css",
            file("text/css", include_str!("pages/style.css")),
        )
        .route(
            "/live.js",
            file("text/javascript", include_str!("pages/live.js")),
        )
        .route(
            "/icon.svg",
            file("image/svg+xml", include_str!("pages/icon.svg")),
        )
        .fallback(async |Visitor(user): Visitor| PageFailure::new(user, Failure::not_found("page")))
        .layer(from_fn(refuse_other_sites))
        .layer(map_response(protected))
}

/// Refuses forms that another site has sent. The cookie is not sent with these either, since it is `SameSite=Lax`.
async fn refuse_other_sites(request: Request, next: Next) -> Response {
    if request.method() == Method::POST && is_of_other_site(request.headers()) {
        let message = "forms of other sites are not accepted";
        let failure = Failure::new(StatusCode::FORBIDDEN, message);
        return PageFailure::new(None, failure).into_response();
    }
    next.run(request).await
}

fn is_of_other_site(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(HeaderValue::as_bytes);
    if let Some(site) = text("sec-fetch-site") {
        return site != b"same-origin" && site != b"none";
    }
    // For browsers that send no such header. A client that sends neither is not a browser, and has nobody's cookie.
    match (text("origin"), text("host")) {
        (None, _) => false,
        (Some(origin), Some(host)) => {
            let after = origin.windows(3).position(|part| part == b"://");
            after.is_none_or(|at| &origin[at + 3..] != host)
        }
        (Some(_), None) => true,
    }
}

/// A page loads only resources of this service, and no other page shows it in a frame.
async fn protected(mut response: Response) -> Response {
    let policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
                  form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The name of the cookie that holds the token.
const COOKIE: &str = "session";

/// The reader of a page: nobody, or the user of the cookie.
#[derive(Debug, Clone)]
struct Visitor(Option<User>);

/// The signed-in reader of a page. Other readers are sent to sign in.
#[derive(Debug, Clone)]
struct Member(User);

impl Visitor {
    async fn of(headers: &HeaderMap, app: &App) -> Result<Self, Failure> {
        let cookies = headers.get_all(header::COOKIE).into_iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let token = cookies
            .flat_map(|value| value.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .find_map(|(name, token)| (name == COOKIE).then_some(token));
        match token {
            Some(token) => Ok(Visitor(app.user_of(token).await?)),
            None => Ok(Visitor(None)),
        }
    }
}

impl FromRequestParts<App> for Visitor {
    type Rejection = PageFailure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Shown<Self> {
        let visitor = Visitor::of(&parts.headers, app).await;
        visitor.map_err(PageFailure::from)
    }
}

impl FromRequestParts<App> for Member {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        match Visitor::from_request_parts(parts, app).await {
            Ok(Visitor(Some(user))) => Ok(Member(user)),
            Ok(Visitor(None)) => Err(Redirect::to("/sign-in").into_response()),
            Err(failure) => Err(failure.into_response()),
        }
    }
}

/// The cookie with a token, or an expired cookie.
fn cookie(app: &App, token: Option<&str>) -> String {
    let secure = if app.settings.https { "; Secure" } else { "" };
    let (token, seconds) = token.map_or(("", 0), |token| (token, LIFETIME.num_seconds()));
    format!("{COOKIE}={token}; HttpOnly; SameSite=Lax; Path=/; Max-Age={seconds}{secure}")
}

/// The result of a page.
type Shown<T> = Result<T, PageFailure>;

/// The failure of a page, and its reader.
#[derive(Debug)]
struct PageFailure(Option<Box<User>>, Failure);

impl PageFailure {
    fn new(user: Option<User>, failure: Failure) -> Self {
        PageFailure(user.map(Box::new), failure)
    }
}

impl IntoResponse for PageFailure {
    fn into_response(self) -> Response {
        let PageFailure(user, failure) = self;
        let headers = failure.headers();
        let page = html! {
            h1 { (failure.status.canonical_reason().unwrap_or("Error")) }
            (layout::failed(&failure))
            p { a href="/" { "All articles" } }
        };
        let page = layout::page("Error", user.as_deref(), None, page);
        (failure.status, headers, page).into_response()
    }
}

/// Adds the reader to a failure.
trait ForUser<T> {
    fn for_user(self, user: Option<&User>) -> Shown<T>;
}

impl<T, E: Into<Failure>> ForUser<T> for Result<T, E> {
    fn for_user(self, user: Option<&User>) -> Shown<T> {
        self.map_err(|error| PageFailure::new(user.cloned(), error.into()))
    }
}

fn shown(markup: Markup) -> Html<String> {
    Html(markup.into_string())
}

impl From<Failure> for PageFailure {
    fn from(failure: Failure) -> Self {
        PageFailure::new(None, failure)
    }
}

/// The fields of a form.
#[derive(Debug, FromRequest)]
#[from_request(via(axum::Form), rejection(PageFailure))]
struct Form<T>(T);

/// The parameters of a query.
#[derive(Debug, FromRequestParts)]
#[from_request(via(Query), rejection(PageFailure))]
struct Parameters<T>(T);

/// The variable segments of a path.
#[derive(Debug, FromRequestParts)]
#[from_request(via(Path), rejection(PageFailure))]
struct Segments<T>(T);

macro_rules! rejections {
    ($($rejection:ident)*) => {$(
        impl From<axum::extract::rejection::$rejection> for PageFailure {
            fn from(rejection: axum::extract::rejection::$rejection) -> Self {
                Failure::from(rejection).into()
            }
        }
    )*};
}
rejections!(FormRejection PathRejection QueryRejection);
