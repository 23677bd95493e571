//! Serves the blog: `conduit --help` lists the arguments.

use std::{error::Error, net::SocketAddr, path::PathBuf, time::Duration};

use clap::Parser;
use conduit::{Settings, attempts::Limits, auth::Auth, models::Conduit, seed, serve};
use odm::{Embedded, prelude::*};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

/// How long the program waits for its predecessor, which has the file until it ends: longer than the predecessor lets requests take.
const HANDOVER: Duration = Duration::from_secs(30);

/// The RealWorld specification, a blog for many authors, on odm: its API is under `/api`, and pages for a browser under `/`.
#[derive(Debug, Parser)]
struct Arguments {
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:3000")]
    listen: SocketAddr,
    /// The file of the database, which is waited for if another program has it. Without one, all is gone at the end.
    #[arg(long, value_name = "FILE")]
    database: Option<PathBuf>,
    /// What tokens are signed with: 32 characters or more that nobody can guess. Without one, a database in memory has one
    /// that is made at random.
    #[arg(long, env = "CONDUIT_SECRET", hide_env_values = true, value_parser = secret)]
    secret: Option<String>,
    /// Stores sample data first, where there are no users: a number of articles, by users `user0`, `user1` and so on,
    /// whose password is `password`.
    #[arg(long, value_name = "ARTICLES", num_args = 0..=1, default_missing_value = "40")]
    seed: Option<u32>,
    /// Has browsers send the cookie over HTTPS alone: for a service behind a proxy that speaks it.
    #[arg(long)]
    https: bool,
    /// Takes the address of a client from the end of `X-Forwarded-For`, as a proxy writes it: for a service behind one. Without a proxy, a
    /// client can write any address there.
    #[arg(long)]
    proxy: bool,
    /// How many times in an hour anybody may try to sign in to an account, or to register with its e-mail address; 0 is no limit.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().account)]
    account_attempts: u32,
    /// How many times in an hour the clients of an address may try to sign in or to register; 0 is no limit.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().address)]
    address_attempts: u32,
}

fn secret(text: &str) -> Result<String, &'static str> {
    match text.len() {
        32.. => Ok(text.to_owned()),
        _ => Err("it must have 32 characters or more"),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let arguments = Arguments::parse();
    let filter = EnvFilter::try_from_default_env();
    let filter = filter.unwrap_or_else(|_| EnvFilter::new("info,tower_http=debug"));
    tracing_subscriber::fmt().with_env_filter(filter).init();

    let secret = match (arguments.secret, &arguments.database) {
        (Some(secret), _) => secret,
        (None, None) => format!("{}{}", ObjectId::new(), ObjectId::new()),
        (None, Some(_)) => {
            return Err(
                "a database in a file needs --secret or CONDUIT_SECRET: with another one at \
                        each start, all users would have to sign in again"
                    .into(),
            );
        }
    };
    let store = match &arguments.database {
        Some(file) => {
            Embedded::builder()
                .wait_for_lock(HANDOVER)
                .open(file)
                .await?
        }
        None => Embedded::memory().await?,
    };
    let db = Conduit::open(store).await?;
    let auth = Auth::new(secret.as_bytes()).map_err(|failure| failure.messages.join(", "))?;
    if let Some(articles) = arguments.seed {
        seed::fill(&db, &auth, articles).await?;
    }
    let listener = TcpListener::bind(arguments.listen).await?;
    // Tests read the port from this line.
    println!("listening on http://{}", listener.local_addr()?);
    let settings = Settings {
        https: arguments.https,
        proxy: arguments.proxy,
        limits: Limits {
            account: arguments.account_attempts,
            address: arguments.address_attempts,
        },
    };
    serve(listener, db, auth, settings, signal()).await
}

/// Waits until the program is told to stop.
async fn signal() {
    let interrupted = async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::error!(%error, "no signal can be received");
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(error) => {
                tracing::error!(%error, "no signal can be received");
                std::future::pending::<()>().await;
            }
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
}
