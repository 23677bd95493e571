use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    qty: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    part: Ref<Part>,
    #[denormalize(from = "Part.name")]
    part_name: String,
}

async fn run(products: Repository<Product>) -> odm::Result<()> {
    products.update(1).set(Product::fields().part_name, "x").await?;
    Ok(())
}

fn main() {}

// - products.update(1).set(Product::fields().part_name, "x").await?;
// + products.update(1).set(Product::fields().part, 2).await?;
