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
    #[count(of = "Product", via = "path")]
    products: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    shop: Ref<Shop>,
    #[ancestors(via = "shop")]
    path: Ancestors<Shop>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "shops")]
struct Shop {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    above: Option<Ref<Shop>>,
    #[ancestors(via = "above")]
    path: Ancestors<Shop>,
}

fn main() {}

// - #[count(of = "Product", via = "path")]
