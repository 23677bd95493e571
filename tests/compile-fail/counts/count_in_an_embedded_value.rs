use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Numbers {
    #[count(of = "Review")]
    reviews: u32,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    qty: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    part: Ref<Part>,
    stars: i32,
}

fn main() {}

// - #[count(of = "Review")]
//   reviews: u32,
//
//   name: String,
// + #[count(of = "Review")]
// + reviews: u32,
