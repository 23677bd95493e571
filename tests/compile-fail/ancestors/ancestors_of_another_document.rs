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
    path: Ancestors<Category>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    category: Ref<Category>,
    #[ancestors(via = "category")]
    path: Ancestors<Product>,
}

fn main() {}

// - path: Ancestors<Product>,
// + path: Ancestors<Category>,
