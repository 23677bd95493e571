use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize, Embed)]
struct Label {
    text: String,
    language: String,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[denormalize(from = "Part.label")]
    label: Label,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    best: PartLink,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "series")]
struct Series {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    first: Ref<Product>,
    #[denormalize(from = "Product.best.label")]
    label: Label,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    series: Ref<Series>,
    #[denormalize(from = "Series.label")]
    label: Label,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    products: Repository<Product>,
    series: Repository<Series>,
    parts: Repository<Part>,
}

fn main() {}

// - #[denormalize(from = "Series.label")]
// + #[embed]
//   label: Label,
