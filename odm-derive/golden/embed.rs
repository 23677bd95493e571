//! Embedded values: in a field, in a list, flattened, and around one value.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
pub struct Money {
    pub value: i64,
    pub currency: String,
}

#[derive(Serialize, Deserialize, Embed)]
pub struct Price(#[embed] pub Money);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
#[serde(transparent)]
pub struct Sku(pub String);

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
pub struct Product {
    #[serde(rename = "_id")]
    pub sku: Sku,
    #[embed]
    pub price: Price,
    #[embed]
    pub past: Option<Vec<Money>>,
    #[embed]
    #[serde(flatten)]
    pub cost: Money,
}
