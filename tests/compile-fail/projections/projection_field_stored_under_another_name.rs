use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i64,
    author: String,
    stars: i32,
}

#[derive(Deserialize, Projection)]
#[projection(of = "Review")]
struct Summary {
    author: String,
    #[serde(rename = "s")]
    stars: i32,
}

fn main() {}

// - #[serde(rename = "s")]
//   stars: i32,
