use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses", unique(fields = "name", unique))]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

fn main() {}

// - #[document(collection = "uses", unique(fields = "name", unique))]
// + #[document(collection = "uses", unique(fields = "name"))]
