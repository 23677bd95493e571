//! The program of the guide's page on MongoDB. The first argument is the URI of a server, the second one the file.

use std::env;

use examples::shop::{Product, Shop};
use odm::{Embedded, MongoDb, prelude::*};

#[tokio::main]
async fn main() -> odm::Result<()> {
    let mut arguments = env::args().skip(1);
    let uri = arguments.next().expect("the URI of a server, with the name of a database");
    let file = arguments.next().unwrap_or_else(|| "shop.odm".to_owned());

    let here = Shop::open(Embedded::open(file).await?).await?;
    let there = Shop::open(MongoDb::connect(&uri).await?).await?; // the line that changes
    let copied = here.copy_to(&there).await?;
    here.close().await?;
    println!("{} documents", copied.documents);

    let best = there.products.all().sort(Product::fields().rating.desc()).first().await?;
    println!("{:?}", best.map(|product| product.name));
    println!("audit: {:?}", there.audit().await?);
    Ok(())
}
