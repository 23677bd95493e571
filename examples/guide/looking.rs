//! The program of the guide's page on looking at data: a shop, with a server beside it. The first argument is the file.

use std::env;

use examples::shop::{NewPart, NewProduct, NewReview, PartLink, Shop};
use odm::{Collections, Embedded, prelude::*};
use odm_server::Server;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = env::args().nth(1).unwrap_or_else(|| "shop.odm".to_owned());
    let shop = Shop::open(Embedded::open(&file).await?).await?;
    if !shop.parts.all().exists().await? {
        let bolt = NewPart { name: "bolt".into(), cents: 20, stock: 100 };
        let parts = vec![PartLink::from(&shop.parts.insert(bolt).await?)];
        let chair = shop.products.insert(NewProduct { name: "Chair".into(), parts }).await?;
        let product = Ref::from(&chair);
        shop.reviews.insert(NewReview { product, stars: 5, text: "solid".into() }).await?;
    }

    let served = Server::builder().database("shop", Collections::of(&shop));
    let server = served.listen("127.0.0.1:27017").await?;
    println!("mongosh mongodb://{}/shop", server.local_addr().expect("it listens at TCP"));

    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    shop.close().await?;
    Ok(())
}
