//! Copies beside a reference, and along the references to a document.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
pub struct Part {
    #[serde(rename = "_id")]
    pub id: i64,
    pub weight: Option<f64>,
    #[denormalize(from = "Product.name", via = "Product.part")]
    pub product_names: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
pub struct Product {
    #[serde(rename = "_id")]
    pub id: i64,
    pub name: String,
    #[reference(child)]
    pub part: Ref<Part>,
    #[denormalize(from = "Part.weight", freeze)]
    pub part_weight: Option<f64>,
}
