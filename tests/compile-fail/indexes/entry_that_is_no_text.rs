use std::collections::BTreeMap;

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products", index(fields = "prices[eur]", case_insensitive))]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    prices: BTreeMap<String, i64>,
}

fn main() {}

// - #[document(collection = "products", index(fields = "prices[eur]", case_insensitive))]
// + #[document(collection = "products", index(fields = "prices[eur]"))]
