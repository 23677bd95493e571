use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Money {
    amount: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    prices: std::collections::BTreeMap<Vec<u8>, Money>,
}

fn main() {}

// - prices: std::collections::BTreeMap<Vec<u8>, Money>,
// + prices: std::collections::BTreeMap<String, Money>,
