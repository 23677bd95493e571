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

async fn run(shop: Shop) -> odm::Result<()> {
    let mut count = 0;
    shop.transaction(async |shop| {
        count += 1;
        shop.parts.delete(1).await?;
        Ok(())
    })
    .await?;
    Ok(())
}

fn main() {}

// - let mut count = 0;
// - shop.transaction(async |shop| {
// -     count += 1;
// -     shop.parts.delete(1).await?;
// -     Ok(())
// + let _count = shop.transaction(async |shop| {
// + shop.parts.delete(1).await?;
// + Ok(1)
