use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "categories")]
struct Category {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    parent: Option<Ref<Category>>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    category: Ref<Category>,
    #[ancestors(via = "category")]
    path: Ancestors<Category>,
}

fn main() {}

// - parent: Option<Ref<Category>>,
// + parent: Option<Ref<Category>>,
// + #[ancestors(via = "parent")]
// + path: Ancestors<Category>,
