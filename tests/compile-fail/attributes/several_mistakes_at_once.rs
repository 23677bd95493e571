use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products", indx(fields = "name"))]
struct Product {
    id: i64,
    #[reference]
    part: Ref<Part>,
    #[index(uniqe)]
    name: String,
    #[serde(flatten)]
    more: std::collections::HashMap<String, i64>,
    #[version]
    #[embed]
    revision: i64,
}

fn rename(products: Repository<Product>) {
    // Not reported: what is wrong is the model.
    let _ = products.update(1).set(Product::fields().name, "x");
}

fn main() {}

// - #[document(collection = "products", indx(fields = "name"))]
// + #[document(collection = "products", index(fields = "more"))]
//
//   struct Product {
// +     #[serde(rename = "_id")]
//       id: i64,
//
// - #[reference]
// + #[reference(child)]
//
// - #[index(uniqe)]
// + #[index(unique)]
//
// - #[serde(flatten)]
//   more: std::collections::HashMap<String, i64>,
//
//   #[version]
// - #[embed]
