//! `serve`: a file for shells, tools and drivers, and for the other commands beside it.

mod tls;

use std::{future::IntoFuture, net::SocketAddr, path::PathBuf};

use mongodb::bson::doc;
use odm::Collections;
use odm_server::{Server, http::Page};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

use crate::{
    arguments::Serve,
    error::{Exit, Failure, Result},
    output::Output,
    source::{Source, socket_of},
};

/// Serves until SIGINT or SIGTERM.
pub(super) async fn run(source: &Source<'_>, serve: &Serve, output: &mut Output) -> Result<Exit> {
    let ending =
        |kind| signal(kind).map_err(|error| Failure::io("cannot wait for signals", &error));
    let (mut interrupt, mut terminate) = (
        ending(SignalKind::interrupt())?,
        ending(SignalKind::terminate())?,
    );
    let path = source.file()?;
    let tls = match (&serve.tls_certificate, &serve.tls_key) {
        (Some(certificate), Some(key)) => Some(tls::config(certificate, key)?),
        _ => None,
    };
    let collections = Collections::open(source.open_store().await?).await?;
    let database = source.database_name(&collections).await?;
    let builder = Server::builder().database(&database, collections.clone());
    let socket: PathBuf = source.socket().unwrap_or_else(|| socket_of(path));
    let socket = std::path::absolute(&socket).unwrap_or(socket);
    let beside = builder.clone().listen_unix(&socket).await?;
    let mut servers = vec![beside];
    tell(
        output,
        &format!(
            "mongodb://{}/{database}",
            in_uri(&socket.display().to_string())
        ),
    )?;
    if let Some(address) = &serve.listen {
        let builder = if serve.users {
            builder.require_users()
        } else {
            builder
        };
        let builder = match &serve.host {
            Some(host) => builder.host(host),
            None => builder,
        };
        let (builder, options) = match tls {
            Some(config) => (builder.tls(config), "?tls=true"),
            None => (builder, ""),
        };
        let server = builder
            .listen(address)
            .await
            .map_err(|error| advise(error, serve.users))?;
        if let Some(address) = server.local_addr() {
            tell(output, &format!("mongodb://{address}/{database}{options}"))?;
        }
        servers.push(server);
    }
    if let Some(address) = &serve.http {
        // Of the server with users, if there is one.
        if let Some(server) = servers.last() {
            let page = serve_page(server.page()?, address, serve.writable).await?;
            tell(output, &page)?;
        }
    }
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    for server in servers {
        server.shutdown().await;
    }
    collections.close().await?;
    Ok(Exit::Done)
}

/// Serves a page at an address of this machine until the process ends, and returns its URL.
async fn serve_page(page: Page, address: &str, is_writable: bool) -> Result<String> {
    let failed = |error| Failure::io(format_args!("cannot listen at `{address}`"), &error);
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let local = listener.local_addr().map_err(failed)?;
    if !local.ip().is_loopback() {
        let message = format!(
            "address `{address}` can be reached by other machines, which the page does not serve"
        );
        return Err(Failure::new(Exit::Refused, message).with_advice(
            "Name one of 127.0.0.1 or [::1], and reach it from elsewhere through a tunnel.",
        ));
    }
    let page = if is_writable { page.writable() } else { page };
    let app = page
        .router()
        .into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(axum::serve(listener, app).into_future());
    Ok(format!("http://{local}/"))
}

fn tell(output: &mut Output, uri: &str) -> Result<()> {
    if output.is_json() {
        output.json(&doc! { "serving": uri })?;
    } else {
        output.text(uri)?;
    }
    output.flush()
}

fn advise(error: odm::Error, has_users: bool) -> Failure {
    let failure = Failure::from(error);
    if has_users {
        return failure;
    }
    failure
        .with_advice("Beyond the loopback, add --users, and the users before by `odm users add`.")
}

/// A path as a host of a URI.
fn in_uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(byte.into())
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
