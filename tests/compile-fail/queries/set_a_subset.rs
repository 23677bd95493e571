use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
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
    text: String,
    stars: i32,
    tags: Vec<String>,
}

async fn run(products: Repository<Product>) -> odm::Result<()> {
    products.update(1).set(Product::fields().reviews, Subset::new()).await?;
    Ok(())
}

fn main() {}

// - async fn run(products: Repository<Product>) -> odm::Result<()> {
// -     products.update(1).set(Product::fields().reviews, Subset::new()).await?;
// + async fn run(reviews: Repository<Review>) -> odm::Result<()> {
// +     reviews.update(1).set(Review::fields().stars, 5).await?;
