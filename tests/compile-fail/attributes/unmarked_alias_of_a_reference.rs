use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

type PartRef = Ref<Part>;
type Related = Vec<PartRef>;

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    part: PartRef,
    parts: Related,
}

fn main() {}

// + #[reference(child)]
//   part: PartRef,
// + #[reference(child)]
//   parts: Related,
