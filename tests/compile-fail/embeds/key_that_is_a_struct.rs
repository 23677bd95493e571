use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Money {
    amount: i64,
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Plain {
    value: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    prices: std::collections::BTreeMap<Plain, Money>,
}

fn main() {}

// - struct Plain {
// -     value: i64,
// - }
// + struct Plain(String);
// + impl odm::model::MapKey for Plain {}
