use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    prices: std::collections::HashMap<i64, i64>,
}

fn main() {}

// - prices: std::collections::HashMap<i64, i64>,
// + prices: std::collections::HashMap<String, i64>,
