//! A page in the browser, and the commands as JSON over HTTP.
//!
//! The page shows the collections and their documents as they are stored, what each derived field follows from, the relations as a diagram,
//! explanations of queries, audits, changes as they happen, and running and slow commands. It is a [`Router`] of `axum` over the databases,
//! users and limits of a [`Builder`], or of a [`Server`] that runs. A service mounts it beside its own routes:
//!
//! ```no_run
//! # use odm::{Collections, derive::examples::Shop};
//! use std::net::SocketAddr;
//! use odm_server::Server;
//!
//! # async fn serve(shop: Shop) -> Result<(), Box<dyn std::error::Error>> {
//! let page = Server::builder().database("shop", Collections::of(&shop)).page().await?;
//! let app = axum::Router::new().nest("/data", page.router());
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?; // http://localhost:8080/data
//! # Ok(()) }
//! ```
//!
//! # Who may use it
//!
//! - Without [users](Builder::require_users) only clients on the machine itself, which the page tells by the address of the connection:
//!   serve it by `into_make_service_with_connect_info::<SocketAddr>()`, else it answers nobody. It also refuses hosts that are no names of
//!   the loopback, and requests that have come through a proxy.
//! - With users each request has a name and a password (HTTP Basic), where several databases are served `database/name`. After five
//!   attempts of an address that fail within a minute, it must wait for the rest of the minute. Clients beyond the machine are served only
//!   if the program says that they come by TLS: [`Page::behind_tls`].
//! - The page changes nothing, unless it is [writable](Page::writable). Rights hold as for a driver.
//!
//! # The commands
//!
//! `POST api/command` has a command with its database as `$db` in canonical or relaxed extended JSON, at most 1 MiB, and answers with the
//! reply in canonical extended JSON, at most 32 MiB, with the status 200 also if the command has failed: then `ok` is 0, and there are
//! MongoDB's `code` and `errmsg`. A refused request has another status, and these fields too. `POST api/relations` has the document
//! `{"$db": ..}`, and answers with [`Relations::to_document`](odm::Relations::to_document) of the collections that the user may read. Both
//! need the type `application/json`, and answer no page of another site. A command whose client goes away ends. As many requests are
//! answered at a time as [`Limits::connections`](crate::Limits::connections).

mod bundle;
mod guard;
mod relations;

use std::{fmt, net::IpAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{OriginalUri, Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use odm::{bson::RawDocumentBuf, collections::json};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
};

use self::bundle::{ASSETS, Asset, INDEX};
use crate::{
    Builder, Server,
    auth::{Authentication, Login, Passwords},
    command,
    connection::Client,
    error::{CommandError, code},
    message,
    server::ServerState,
};

/// The longest body of a request.
const MAX_BODY: usize = 1 << 20;

/// How long a body may take.
const TIME: Duration = Duration::from_secs(30);

/// The longest answer.
const MAX_ANSWER: usize = 32 << 20;

/// The number of all clients by HTTP as a connection.
const CONNECTION: i32 = 0;

/// The permissions of the page in a browser: only its own files.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

impl Builder {
    /// Makes a page in the browser of these databases, users and limits, without a listener of the wire protocol.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::Collections;
    /// use odm_server::Server;
    ///
    /// let page = Server::builder().database("shop", Collections::of(&shop)).page().await?;
    /// let app: axum::Router = axum::Router::new().nest("/data", page.router());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`listen`](Builder::listen) that are not about the address.
    #[cfg_attr(docsrs, doc(cfg(feature = "http")))]
    pub async fn page(self) -> odm::Result<Page> {
        let (ending, end) = watch::channel(false);
        let server = Arc::new(self.state(None, None, end).await?);
        let own = Own {
            _ending: ending,
            _sweeping: server.clone().sweep(),
        };
        Page::new(server, Some(own))
    }
}

impl Server {
    /// Makes a page in the browser of this server. It shows the commands of all its clients, and ends with it.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::Collections;
    /// use odm_server::Server;
    ///
    /// let server = Server::builder().database("shop", Collections::of(&shop)).listen("127.0.0.1:0").await?;
    /// let app: axum::Router = server.page()?.router();
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Io` if the operating system has no random bytes.
    #[cfg_attr(docsrs, doc(cfg(feature = "http")))]
    pub fn page(&self) -> odm::Result<Page> {
        Page::new(self.state.clone(), None)
    }
}

/// A page in the browser, from [`Builder::page`] and [`Server::page`]. The [module](self) says who may use it.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::Collections;
/// use odm_server::{Server, http::Page};
///
/// let page: Page = Server::builder().database("shop", Collections::of(&shop)).page().await?;
/// let app: axum::Router = page.writable().router();
/// # Ok(()) });
/// ```
#[must_use = "a page does nothing unless its router is served"]
pub struct Page {
    server: Arc<ServerState>,
    _own: Option<Own>,
    passwords: Passwords,
    is_writable: bool,
    is_behind_tls: bool,
}

/// The state of a page without a running server.
struct Own {
    _ending: watch::Sender<bool>,
    _sweeping: JoinSet<()>,
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page")
            .field("is_writable", &self.is_writable)
            .field("is_behind_tls", &self.is_behind_tls)
            .finish_non_exhaustive()
    }
}

impl Page {
    fn new(server: Arc<ServerState>, own: Option<Own>) -> odm::Result<Self> {
        Ok(Page {
            server,
            _own: own,
            passwords: Passwords::new()?,
            is_writable: false,
            is_behind_tls: false,
        })
    }

    /// Lets clients run all commands, as their rights allow. Without it commands that could change something are refused, with the code 20.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let builder = odm_server::Server::builder().database("shop", odm::Collections::of(&shop));
    /// let app: axum::Router = builder.page().await?.writable().router();
    /// # Ok(()) });
    /// ```
    pub fn writable(mut self) -> Self {
        self.is_writable = true;
        self
    }

    /// Says that all clients come by TLS, which the program speaks, or a proxy before it. Then users are served wherever they are. It says
    /// nothing about a page without users.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let builder = odm_server::Server::builder().database("shop", odm::Collections::of(&shop));
    /// let app: axum::Router = builder.require_users().page().await?.behind_tls().router();
    /// # Ok(()) });
    /// ```
    pub fn behind_tls(mut self) -> Self {
        self.is_behind_tls = true;
        self
    }

    /// The routes of the page, below wherever a service mounts them. Serve them by `into_make_service_with_connect_info::<SocketAddr>()`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let page = odm_server::Server::builder().database("shop", odm::Collections::of(&shop)).page().await?;
    /// let app: axum::Router = axum::Router::new().nest("/data", page.router());
    /// # Ok(()) });
    /// ```
    pub fn router(self) -> Router {
        let requests = self.server.limits.connections.min(Semaphore::MAX_PERMITS);
        let page = Arc::new(Served {
            requests: Arc::new(Semaphore::new(requests)),
            page: self,
        });
        let mut router = Router::new()
            .route("/", get(index))
            .route("/api/command", post(run))
            .route("/api/relations", post(relations));
        for asset in ASSETS {
            let show = move |State(page): State<Arc<Served>>, request: Request| async move {
                let (parts, _) = request.into_parts();
                let entered = page.enter(&parts).await;
                finish(entered.map(|_| show(asset)))
            };
            router = router.route(asset.path, get(show));
        }
        router.with_state(page)
    }
}

/// A page whose router is served.
struct Served {
    page: Page,
    /// A permit for each further request at a time.
    requests: Arc<Semaphore>,
}

/// A request that may be answered.
struct Entered {
    client: Client,
    _place: OwnedSemaphorePermit,
}

/// A request that is not answered, with MongoDB's code of the error.
#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    error: CommandError,
}

impl Refusal {
    fn new(status: StatusCode, code: i32, why: impl Into<String>) -> Self {
        Refusal {
            status,
            error: CommandError::new(code, why),
        }
    }
}

impl From<CommandError> for Refusal {
    fn from(error: CommandError) -> Self {
        Refusal {
            status: StatusCode::OK,
            error,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let reply = self.error.reply("");
        let mut response = match json::write(&reply, MAX_ANSWER) {
            Ok(text) => as_json(text),
            Err(_) => Response::new(Body::empty()),
        };
        *response.status_mut() = self.status;
        if self.status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Basic realm=\"odm\", charset=\"UTF-8\"");
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}

fn as_json(text: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

fn show(asset: &Asset) -> Response {
    ([(header::CONTENT_TYPE, asset.kind)], asset.text).into_response()
}

/// An answer with what every one has.
fn finish(answer: Result<Response, Refusal>) -> Response {
    let mut response = answer.unwrap_or_else(IntoResponse::into_response);
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The page. Its files are beside it, whether the path that it is mounted at ends with a slash or not.
async fn index(
    State(page): State<Arc<Served>>,
    OriginalUri(uri): OriginalUri,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let last = uri.path().rsplit('/').next().unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte);
    let base = match last {
        "" => "./".to_owned(),
        last => {
            let plain: String = last
                .bytes()
                .map(|byte| match is_plain(byte) {
                    true => char::from(byte).to_string(),
                    false => format!("%{byte:02X}"),
                })
                .collect();
            format!("./{plain}/")
        }
    };
    let entered = page.enter(&parts).await;
    finish(entered.map(|_| {
        let text = INDEX.replace("{base}", &base);
        ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
    }))
}

async fn run(State(page): State<Arc<Served>>, request: Request) -> Response {
    finish(page.run(request).await)
}

async fn relations(State(page): State<Arc<Served>>, request: Request) -> Response {
    finish(page.relations(request).await)
}

impl Served {
    fn server(&self) -> &ServerState {
        &self.page.server
    }

    /// Checks that a client may be here, and finds out which user it is.
    async fn enter(&self, parts: &Parts) -> Result<Entered, Refusal> {
        let server = self.server();
        let unavailable = |code, why| Refusal::new(StatusCode::SERVICE_UNAVAILABLE, code, why);
        let address = guard::check_client(parts, server.requires_users, self.page.is_behind_tls)?;
        if server.is_ending() {
            let why = "the server has ended";
            return Err(unavailable(code::SHUTDOWN_IN_PROGRESS, why));
        }
        let Ok(place) = self.requests.clone().try_acquire_owned() else {
            let why = "there are as many requests as the limit";
            return Err(unavailable(code::EXCEEDED_MEMORY_LIMIT, why));
        };
        let authentication = if server.requires_users {
            self.log_in(parts, address).await?
        } else {
            Authentication::default()
        };
        let shown = address.map_or_else(|| "unknown".to_owned(), |address| address.to_string());
        let client = Client {
            id: CONNECTION,
            address: Arc::new(format!("{shown} (HTTP)")),
            member: Some("http".to_owned()),
            authentication,
        };
        Ok(Entered {
            client,
            _place: place,
        })
    }

    async fn log_in(
        &self,
        parts: &Parts,
        address: Option<IpAddr>,
    ) -> Result<Authentication, Refusal> {
        let server = self.server();
        let refused = |status, why| Refusal::new(status, code::AUTHENTICATION_FAILED, why);
        let Some(given) = parts.headers.get(header::AUTHORIZATION) else {
            let why = "a name and a password are required";
            return Err(refused(StatusCode::UNAUTHORIZED, why));
        };
        let decoded = given
            .to_str()
            .ok()
            .and_then(|given| given.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"))
            .and_then(|(_, encoded)| BASE64.decode(encoded.trim()).ok())
            .and_then(|decoded| String::from_utf8(decoded).ok());
        let Some((user, password)) = decoded.as_deref().and_then(|both| both.split_once(':'))
        else {
            let why = "the name and the password are malformed";
            return Err(refused(StatusCode::UNAUTHORIZED, why));
        };
        let (database, name) = match user.split_once('/') {
            Some((database, name)) if server.databases.contains_key(database) => (database, name),
            _ => {
                let mut names = server.databases.keys();
                match (names.next(), names.next()) {
                    (Some(only), None) => (only.as_str(), user),
                    _ => ("", user),
                }
            }
        };
        let login = self
            .page
            .passwords
            .check(server, address, (database, name, password));
        match login.await? {
            Login::User(user) => Ok(Authentication::of_user(user)),
            Login::Wrong => {
                let address = address.map(tracing::field::display);
                tracing::info!(target: "odm", address, database, "authentication failed");
                Err(refused(StatusCode::UNAUTHORIZED, "Authentication failed."))
            }
            Login::Exhausted => {
                let why = "too many attempts to authenticate have failed: try again in a minute";
                Err(refused(StatusCode::TOO_MANY_REQUESTS, why))
            }
        }
    }

    /// Reads the document of a request.
    async fn document(&self, body: Body) -> Result<RawDocumentBuf, Refusal> {
        let reading = tokio::time::timeout(TIME, to_bytes(body, MAX_BODY)).await;
        let late = |_| {
            let why = "the body does not come in time";
            Refusal::new(StatusCode::REQUEST_TIMEOUT, code::MAX_TIME_EXPIRED, why)
        };
        let long = |_| {
            let why = format!("the body has more than {MAX_BODY} bytes, or has ended early");
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, code::OVERFLOW, why)
        };
        let bytes: Bytes = reading.map_err(late)?.map_err(long)?;
        self.server().counters.received(bytes.len());
        json::read(&bytes).map_err(|error| {
            let why = error.to_string();
            Refusal::new(StatusCode::BAD_REQUEST, code::FAILED_TO_PARSE, why)
        })
    }

    fn answer(&self, reply: &odm::bson::RawDocument) -> Result<Response, Refusal> {
        let text = json::write(reply, MAX_ANSWER).map_err(CommandError::from)?;
        self.server().counters.sent(text.len());
        Ok(as_json(text))
    }

    /// Runs the command of a request. It is dropped with the request, which ends with its client.
    async fn run(&self, request: Request) -> Result<Response, Refusal> {
        let (parts, body) = request.into_parts();
        let entered = self.enter(&parts).await?;
        guard::check_call(&parts)?;
        let body = self.document(body).await?;
        if !self.page.is_writable {
            command::check_reads(&body)?;
        }
        let request = message::Request::of_body(&body);
        let reply = command::run(self.server(), &entered.client, &request).await;
        self.answer(&reply)
    }

    /// Answers with the relations of a database.
    async fn relations(&self, request: Request) -> Result<Response, Refusal> {
        let (parts, body) = request.into_parts();
        let entered = self.enter(&parts).await?;
        guard::check_call(&parts)?;
        let body = self.document(body).await?;
        let shown = relations::of(self.server(), &entered.client, &body).await?;
        self.answer(&shown)
    }
}
