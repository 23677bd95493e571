//! Serves the product catalog over HTTP until it is told to stop (Ctrl-C or `SIGTERM`).
//!
//! `cargo run -p examples --example service -- --help` lists its arguments, and `examples::service` its requests.

use std::{
    error::Error, io::IsTerminal, net::SocketAddr, path::PathBuf, process::ExitCode, time::Duration,
};

use clap::Parser;
use examples::exit;
use odm::Embedded;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

/// How long the program waits for its predecessor, which has the file until it ends.
const HANDOVER: Duration = Duration::from_secs(30);

/// A product catalog over HTTP.
#[derive(Parser)]
struct Arguments {
    /// The file of the database. It is created if it is missing, and waited for if another program has it.
    #[arg(long, value_name = "FILE", default_value = "catalog.odm")]
    database: PathBuf,
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
}

#[tokio::main]
async fn main() -> ExitCode {
    exit(run(Arguments::parse()).await)
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error + Send + Sync>> {
    // `RUST_LOG=odm=debug` shows each operation of the database, with its cost.
    let filter = EnvFilter::try_from_default_env();
    let filter = filter.unwrap_or_else(|_| EnvFilter::new("info,tower_http=debug"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stdout().is_terminal())
        .init();

    let store = Embedded::builder()
        .wait_for_lock(HANDOVER)
        .open(&arguments.database)
        .await?;
    let listener = TcpListener::bind(arguments.listen).await?;
    println!(
        "serving `{}` on http://{}",
        arguments.database.display(),
        listener.local_addr()?
    );
    examples::service::serve(listener, store, signal()).await
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
