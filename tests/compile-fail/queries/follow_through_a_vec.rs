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
    let found = products.find(Product::fields().prices.currency.eq("EUR")).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = products.find(Product::fields().prices.currency.eq("EUR")).await?;
// + let in_euros = Product::fields().prices.any(|price| price.currency.eq("EUR"));
// + let found = products.find(in_euros).await?;
