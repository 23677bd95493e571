use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Other {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
    others: Repository<Other>,
}

fn main() {}

// - #[document(collection = "parts")]
// + #[document(collection = "others")]
//   struct Other {
