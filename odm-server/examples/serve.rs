//! Serves the shop of the documentation to shells, tools and drivers, and empty databases of other names: `serve 27017 NAME..`. All are in
//! memory. It ends with its input, and then audits the shop.

use odm::{
    Collections, Database, Embedded,
    derive::examples::{Shop, example},
};
use odm_server::Server;

fn main() {
    example(async |shop| serve(shop).await);
}

async fn serve(shop: Shop) -> odm::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().unwrap_or_else(|| "27017".to_owned());
    let mut builder = Server::builder().database("shop", Collections::of(&shop));
    for name in arguments {
        let empty = Collections::open(Embedded::memory().await?).await?;
        builder = builder.database(name, empty);
    }
    let server = builder.listen(&format!("127.0.0.1:{port}")).await?;
    if let Some(address) = server.local_addr() {
        println!("mongodb://{address}/shop");
    }
    let ended =
        tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    ended.await.ok();
    server.shutdown().await;
    let findings = shop.audit().await?;
    println!("audit: {} findings", findings.len());
    match findings.first() {
        None => Ok(()),
        Some(finding) => Err(odm::Error::new(
            odm::ErrorKind::Corrupt,
            finding.to_string(),
        )),
    }
}
