use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: uuid::Uuid,
    total: i64,
}

fn main() {}

// - #[serde(rename = "_id")]
// + #[serde(rename = "_id", with = "odm::native")]
