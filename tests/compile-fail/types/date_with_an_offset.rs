use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(with = "odm::native")]
    created: chrono::DateTime<chrono::FixedOffset>,
}

fn main() {}

// - created: chrono::DateTime<chrono::FixedOffset>,
// + created: chrono::DateTime<chrono::Utc>,
