use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    tags: Vec<String>,
    #[subset(limit = 10, sort = "-stars")]
    reviews: Subset<Review>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    product: Ref<Product>,
    stars: i32,
}

async fn run(products: Repository<Product>, product: Product) -> odm::Result<()> {
    let found = products.after_subset(&product, Product::fields().reviews).await?.await?;
    drop(found);
    Ok(())
}

fn main() {}

// - async fn run(products: Repository<Product>, product: Product) -> odm::Result<()> {
// -     let found = products.after_subset(&product, Product::fields().reviews).await?.await?;
// + async fn run(reviews: Repository<Review>, product: Product) -> odm::Result<()> {
// +     let found = reviews.after_subset(&product, Product::fields().reviews).await?.await?;
