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
    #[subset(limit = 3, sort = "id")]
    answers: Subset<Answer>,
    text: String,
    stars: i32,
    tags: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "answers")]
struct Answer {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    review: Ref<Review>,
}

fn main() {}

//   #[subset(limit = 10, sort = "-stars")]
// - reviews: Subset<Review>,
// + reviews: Subset<Brief>,
//
//   fn main() {}
// + #[derive(Serialize, Deserialize, Projection)]
// + #[projection(of = "Review")]
// + struct Brief {
// +     text: String,
// + }
