use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    qty: i32,
}

#[derive(Deserialize, Projection)]
#[projection(of = "Part")]
struct PartName {
    #[denormalize(from = "Part.name")]
    name: String,
}

fn main() {}

// - #[denormalize(from = "Part.name")]
//   name: String,
