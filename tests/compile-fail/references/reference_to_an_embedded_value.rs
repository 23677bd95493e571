use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Money {
    amount: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    money: Ref<Money>,
}

fn main() {}

// - #[reference(child)]
// - money: Ref<Money>,
// + #[embed]
// + money: Money,
