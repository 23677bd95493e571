//! The RealWorld specification ("Conduit"), a blog for many authors, as a web service on `odm`.
//!
//! | file | content |
//! |---|---|
//! | `models` | the stored documents, and their derived data |
//! | `queries` | the queries of the service |
//! | `requests` | what clients send |
//! | `accounts` | who can sign in |
//! | `auth` | passwords and tokens, and who makes a request |
//! | `failure` | errors as answers |
//! | `api` | the JSON of the specification |
//! | `pages` | the same for a browser, with live updates |
//! | `seed` | sample data |

pub mod accounts;
pub mod api;
pub mod auth;
pub mod failure;
pub mod models;
pub mod pages;
pub mod queries;
pub mod requests;
pub mod seed;

use std::{error::Error, future::Future, time::Duration};

use axum::{Router, extract::DefaultBodyLimit, http::Request};
use odm::prelude::*;
use tokio::{net::TcpListener, sync::watch};
use tower_http::trace::TraceLayer;

use crate::{auth::Auth, models::Conduit};

/// The largest body of a request.
const BODY: usize = 1 << 20;

/// The time for open requests after the service was told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// The shared state of all handlers.
#[derive(Debug, Clone)]
pub struct App {
    /// The database.
    pub db: Conduit,
    /// Passwords and tokens.
    pub auth: Auth,
    /// Whether browsers send the cookie over HTTPS alone.
    pub secure: bool,
    /// Changes when the service is told to stop, so that streams end.
    pub stopping: watch::Receiver<()>,
}

/// Serves requests on the listener until `shutdown` is ready and the open requests are answered, and closes the database. Live streams end
/// at once.
pub async fn serve(
    listener: TcpListener,
    db: Conduit,
    auth: Auth,
    secure: bool,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (stop, stopping) = watch::channel(());
    let mut stopped = stopping.clone();
    let app = App {
        db: db.clone(),
        auth,
        secure,
        stopping,
    };
    let serve = axum::serve(listener, router(app)).with_graceful_shutdown(async move {
        shutdown.await;
        drop(stop);
    });
    let overdue = async {
        // The sender is dropped when the service stops.
        let _ = stopped.changed().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = serve.into_future() => served?,
        () = overdue => tracing::warn!("requests were under way for too long"),
    }
    db.close().await?;
    Ok(())
}

/// The routes.
pub fn router(app: App) -> Router {
    let trace = TraceLayer::new_for_http().make_span_with(|request: &Request<_>| {
        // Without the query, which may have a search text.
        let (method, path) = (request.method(), request.uri().path());
        tracing::info_span!("request", %method, path)
    });
    Router::new()
        .nest("/api", api::router())
        .merge(pages::router())
        .layer(DefaultBodyLimit::max(BODY))
        .layer(trace)
        .with_state(app)
}
