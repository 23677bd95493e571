//! Serves the product catalog over HTTP until it is told to stop (Ctrl-C).
//!
//! `cargo run -p examples --example service [file] [address]`, by default `catalog.odm` and
//! `127.0.0.1:8080`. The requests are listed in `examples::service`.

use odm::Embedded;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap_or_else(|| "catalog.odm".to_owned());
    let address = args.next().unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let store = Embedded::open(&file).await?;
    let listener = TcpListener::bind(&address).await?;
    println!("serving `{file}` on http://{}", listener.local_addr()?);
    let shutdown = async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            eprintln!("cannot wait for Ctrl-C, so shutting down: {error}");
        }
    };
    examples::service::serve(listener, store, shutdown).await
}
