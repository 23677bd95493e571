use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[subset(limit = 0, sort = "-stars")]
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

fn main() {}

// - #[subset(limit = 0, sort = "-stars")]
// + #[subset(limit = 1, sort = "-stars")]
