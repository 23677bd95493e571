use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[subset(limit = 3, sort = "stars")]
    reviews: Subset<Review>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    product: Option<Ref<Product>>,
    stars: i32,
    #[denormalize(from = "Product.reviews")]
    others: Option<Subset<Review>>,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    products: Repository<Product>,
    reviews: Repository<Review>,
}

fn main() {}

// - #[denormalize(from = "Product.reviews")]
// - others: Option<Subset<Review>>,
// + others: i32,
