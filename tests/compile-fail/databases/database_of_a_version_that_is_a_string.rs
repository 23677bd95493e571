use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Database)]
#[database(name = "shop", version = "1")]
struct Shop {
    parts: Repository<Part>,
}

fn main() {}

// - #[database(name = "shop", version = "1")]
// + #[database(name = "shop", version = 1)]
