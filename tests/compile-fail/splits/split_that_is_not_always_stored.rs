use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Details {
    plot: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "movies")]
struct Movie {
    #[serde(rename = "_id")]
    id: i64,
    #[split(collection = "movie_details", key = "movie")]
    #[serde(default, skip_serializing_if = "is_some")]
    details: Cold<Details>,
}

fn is_some(_: &Cold<Details>) -> bool {
    true
}

fn main() {}

// - #[serde(default, skip_serializing_if = "is_some")]
//   details: Cold<Details>,
