//! The RealWorld specification ("Conduit"), a blog for many authors, as a web service on `odm`.
//!
//! | file | content |
//! |---|---|
//! | `models` | the stored documents, and their derived data |
//! | `queries` | the queries of the service |
//! | `requests` | what clients send |
//! | `accounts` | who can sign in |
//! | `auth` | passwords and tokens, and who makes a request |
//! | `attempts` | how often somebody may try to sign in or to register |
//! | `failure` | errors as answers |
//! | `api` | the JSON of the specification |
//! | `pages` | the same for a browser, with live updates |
//! | `seed` | sample data |

pub mod accounts;
pub mod api;
pub mod attempts;
pub mod auth;
pub mod failure;
pub mod models;
pub mod pages;
pub mod queries;
pub mod requests;
pub mod seed;

use std::{error::Error, future::Future, net::SocketAddr, time::Duration};

use axum::{Router, extract::DefaultBodyLimit, http::Request};
use odm::prelude::*;
use tokio::{net::TcpListener, sync::watch};
use tower_http::trace::TraceLayer;

use crate::{
    attempts::{Attempts, Limits},
    auth::Auth,
    models::Conduit,
};

/// The largest body of a request.
const BODY: usize = 1 << 20;

/// The time for open requests after the service was told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// How the service is run.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Whether browsers send the cookie over HTTPS alone.
    pub https: bool,
    /// Whether the address of a client is the last one in `X-Forwarded-For`, which a proxy adds, and not that of the connection.
    pub proxy: bool,
    /// How often somebody may try to sign in or to register.
    pub limits: Limits,
}

/// The shared state of all handlers.
#[derive(Debug, Clone)]
pub struct App {
    /// The database.
    pub db: Conduit,
    /// Passwords and tokens.
    pub auth: Auth,
    /// The attempts to sign in or to register.
    pub attempts: Attempts,
    /// How it is run.
    pub settings: Settings,
    /// Changes when the service is told to stop, so that streams end.
    pub stopping: watch::Receiver<()>,
}

/// Serves requests on the listener until `shutdown` is ready and the open requests are answered, and closes the database. Live streams end
/// at once.
pub async fn serve(
    listener: TcpListener,
    db: Conduit,
    auth: Auth,
    settings: Settings,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (stop, stopping) = watch::channel(());
    let mut stopped = stopping.clone();
    let app = App {
        db: db.clone(),
        auth,
        attempts: Attempts::new(settings.limits),
        settings,
        stopping,
    };
    let router = router(app).into_make_service_with_connect_info::<SocketAddr>();
    let serve = axum::serve(listener, router).with_graceful_shutdown(async move {
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
