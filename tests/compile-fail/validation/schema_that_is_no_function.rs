use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", validation(schema = "part_schema"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    size: i32,
}

fn main() {}

// - #[document(collection = "parts", validation(schema = "part_schema"))]
// + #[document(collection = "parts", validation(schema = part_schema))]
//
//   fn main() {}
// + fn part_schema() -> odm::bson::Document {
// +     odm::bson::doc! { "required": ["size"] }
// + }
