use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Stock {
    place: String,
    qty: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    tags: Vec<String>,
    #[embed]
    stock: Vec<Stock>,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    let found = parts.all().distinct(Part::fields().stock).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = parts.all().distinct(Part::fields().stock).await?;
// + let found = parts.all().distinct(Part::fields().tags).await?;
