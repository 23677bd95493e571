use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    created: chrono::DateTime<chrono::Utc>,
}

fn main() {}

// + #[serde(with = "odm::native")]
//   created: chrono::DateTime<chrono::Utc>,
