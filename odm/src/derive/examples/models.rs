use std::collections::BTreeMap;

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "parts")]
pub struct Part {
    #[serde(rename = "_id")]
    pub id: i64,
    #[index(unique)]
    pub name: String,
    #[validate(min = 0)]
    pub qty: i64,
    pub price: f64,
    pub tags: Vec<String>,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct Money {
    pub value: f64,
    pub currency: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "products", new = "NewProduct")]
pub struct Product {
    #[serde(rename = "_id")]
    pub id: i64,
    pub name: String,
    #[embed]
    pub price: Money,
    /// Its name in other languages.
    pub names: BTreeMap<String, String>,
    #[reference(child)]
    pub parts: Vec<Ref<Part>>,
    #[subset(limit = 2, sort = "-published")]
    pub reviews: Subset<ReviewSummary>,
    #[count(of = "Review")]
    pub review_count: i64,
    #[split(collection = "manuals", key = "product", optional)]
    pub manual: Cold<Manual>,
    #[version]
    pub version: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct Manual {
    pub text: String,
    pub pages: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
pub struct Review {
    #[serde(rename = "_id")]
    pub id: i64,
    #[reference(parent, on_delete = "cascade")]
    pub product: Ref<Product>,
    pub stars: i32,
    pub text: String,
    pub published: DateTime,
}

/// The part of a review that a product shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
pub struct ReviewSummary {
    pub stars: i32,
    pub text: String,
    pub published: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "warranties")]
pub struct Warranty {
    #[serde(rename = "_id")]
    pub id: i64,
    #[reference(parent, one, on_delete = "cascade")]
    pub product: Ref<Product>,
    #[denormalize(from = "Product.name", refresh = "later")]
    pub product_name: String,
    pub months: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "orders", new = "NewOrder")]
pub struct Order {
    #[serde(rename = "_id")]
    #[id(sequence)]
    pub id: i64,
    pub customer: String,
    #[embed]
    pub lines: Vec<Line>,
    pub total: f64,
    pub placed: DateTime,
    pub shipped: Option<DateTime>,
    #[updated_at]
    pub changed: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
pub struct Line {
    #[reference(child)]
    pub product: Ref<Product>,
    pub quantity: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(
    collection = "carts",
    new = "NewCart",
    expires(field = "seen", after = "30d")
)]
pub struct Cart {
    #[serde(rename = "_id")]
    #[id(auto)]
    pub id: ObjectId,
    pub customer: String,
    pub seen: DateTime,
}

#[derive(Database)]
#[database(name = "shop", version = 1)]
pub struct Shop {
    pub parts: Repository<Part>,
    pub products: Repository<Product>,
    pub reviews: Repository<Review>,
    pub warranties: Repository<Warranty>,
    pub orders: Repository<Order>,
    pub carts: Repository<Cart>,
}
