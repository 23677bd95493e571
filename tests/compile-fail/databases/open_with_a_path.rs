use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
}

async fn run() -> odm::Result<()> {
    let shop = Shop::open("shop.odm").await?;
    drop(shop);
    Ok(())
}

fn main() {}

// - let shop = Shop::open("shop.odm").await?;
// + let shop = Shop::open(odm::Embedded::open("shop.odm").await?).await?;
