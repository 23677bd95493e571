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
#[projection(of = "Reviews")]
struct Summary {
    author: String,
}

fn main() {}

// - #[projection(of = "Reviews")]
// + #[projection(of = "Review")]
