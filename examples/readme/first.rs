//! The first program of the README.

use odm::{Embedded, prelude::*};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "parts", new = "NewPart")]
struct Part {
    #[serde(rename = "_id")]
    #[id(sequence)]
    id: i64,
    name: String,
}

#[derive(Debug, Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
}

#[tokio::main]
async fn main() -> odm::Result<()> {
    let shop = Shop::open(Embedded::memory().await?).await?; // or Embedded::open("shop.odm")
    let parts = ["washer", "nut", "bolt"].map(|name| NewPart { name: name.into() });
    shop.parts.insert_many(parts).await?;
    let part = Part::fields(); // a wrong name or type does not compile
    for part in shop.parts.find(part.id.gt(1)).sort(part.name.asc()).await? {
        println!("{part:?}");
    }
    Ok(())
}
