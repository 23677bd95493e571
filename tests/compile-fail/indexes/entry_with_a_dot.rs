use std::collections::BTreeMap;

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products", index(fields = "names[en.short]"))]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    names: BTreeMap<String, String>,
}

fn main() {}

// - #[document(collection = "products", index(fields = "names[en.short]"))]
// + #[document(collection = "products", index(fields = "names[en]"))]
