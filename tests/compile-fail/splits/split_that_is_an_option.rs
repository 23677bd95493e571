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
    #[split(collection = "details", key = "use", optional)]
    details: Option<odm::Cold<Money>>,
}

fn main() {}

// - details: Option<odm::Cold<Money>>,
// + details: odm::Cold<Money>,
