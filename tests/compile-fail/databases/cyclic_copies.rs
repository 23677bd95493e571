use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    product: Ref<Product>,
    #[denormalize(from = "Product.label")]
    name: String,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[denormalize(from = "Part.name")]
    #[serde(rename = "called")]
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    best: PartLink,
    #[reference(parent)]
    maker: Ref<Maker>,
    #[denormalize(from = "Maker.title", freeze)]
    label: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    flagship: Ref<Product>,
    #[denormalize(from = "Product.best.name")]
    title: String,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {
    parts: Repository<Part>,
    products: Repository<Product>,
    makers: Repository<Maker>,
}

fn main() {}

// - #[denormalize(from = "Product.label")]
//   name: String,
