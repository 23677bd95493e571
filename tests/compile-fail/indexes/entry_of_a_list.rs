use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products", index(fields = "tags[en]"))]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    tags: Vec<String>,
}

fn main() {}

// - tags: Vec<String>,
// + tags: std::collections::BTreeMap<String, String>,
