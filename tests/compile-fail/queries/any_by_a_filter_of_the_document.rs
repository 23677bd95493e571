use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Money {
    value: f64,
    currency: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    prices: Vec<Money>,
}

async fn run(products: Repository<Product>) -> odm::Result<()> {
    let found = products.find(Product::fields().prices.any(|_| Product::fields().id.eq(1))).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = products.find(Product::fields().prices.any(|_| Product::fields().id.eq(1))).await?;
// + let found = products.find(Product::fields().prices.any(|price| price.currency.eq("EUR"))).await?;
