//! Serves the shop of the documentation, in memory, to shells, tools and drivers: `cargo run --example serve -- 27017`.

use odm::{Collections, derive::examples::example};
use odm_server::Server;

fn main() {
    let port = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "27017".to_owned());
    example(async |shop| {
        let server = Server::builder()
            .database("shop", Collections::of(&shop))
            .listen(&format!("127.0.0.1:{port}"))
            .await?;
        if let Some(address) = server.local_addr() {
            println!("mongosh \"mongodb://{address}/shop\"");
        }
        std::future::pending().await
    });
}
