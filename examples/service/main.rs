//! Serves the product catalog over HTTP until it is told to stop (Ctrl-C).
//!
//! `cargo run -p examples --example service -- --help` lists its arguments, and `examples::service` its requests.

use std::{error::Error, io::IsTerminal, net::SocketAddr, path::PathBuf, process::ExitCode};

use clap::Parser;
use examples::exit;
use odm::Embedded;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

/// A product catalog over HTTP.
#[derive(Parser)]
struct Arguments {
    /// The file of the database. It is created if it is missing.
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

    let store = Embedded::open(&arguments.database).await?;
    let listener = TcpListener::bind(arguments.listen).await?;
    println!(
        "serving `{}` on http://{}",
        arguments.database.display(),
        listener.local_addr()?
    );
    let shutdown = async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            eprintln!("cannot wait for Ctrl-C, so shutting down: {error}");
        }
    };
    examples::service::serve(listener, store, shutdown).await
}
