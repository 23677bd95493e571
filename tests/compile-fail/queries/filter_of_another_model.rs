use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    let found = parts.find(Product::fields().id.eq(5)).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = parts.find(Product::fields().id.eq(5)).await?;
// + let found = parts.find(Part::fields().id.eq(5)).await?;
