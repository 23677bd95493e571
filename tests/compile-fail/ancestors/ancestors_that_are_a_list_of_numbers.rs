use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "categories")]
struct Category {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    parent: Option<Ref<Category>>,
    #[ancestors(via = "parent")]
    path: Vec<i64>,
}

fn main() {}

// - path: Vec<i64>,
// + path: Ancestors<Category>,
