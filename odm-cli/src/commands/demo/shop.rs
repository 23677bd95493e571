//! The models of the shop.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "customers")]
pub(super) struct Customer {
    #[serde(rename = "_id")]
    pub(super) id: String,
    pub(super) name: String,
    pub(super) city: String,
    #[count(of = "Order")]
    pub(super) orders: i64,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "products")]
pub(super) struct Product {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    #[index(unique)]
    pub(super) name: String,
    #[validate(min = 0.0)]
    pub(super) price: f64,
    pub(super) tags: Vec<String>,
    #[count(of = "Review")]
    pub(super) review_count: i64,
    /// The newest reviews.
    #[subset(limit = 2, sort = "-published")]
    pub(super) reviews: Subset<ReviewSummary>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
pub(super) struct Review {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    #[reference(parent, on_delete = "cascade")]
    pub(super) product: Ref<Product>,
    pub(super) stars: i32,
    pub(super) text: String,
    pub(super) published: DateTime,
}

/// The part of a review that a product shows.
#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
pub(super) struct ReviewSummary {
    stars: i32,
    text: String,
    published: DateTime,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[document(collection = "orders")]
pub(super) struct Order {
    #[serde(rename = "_id")]
    pub(super) id: i64,
    #[reference(parent)]
    pub(super) customer: Ref<Customer>,
    #[denormalize(from = "Customer.name")]
    pub(super) customer_name: String,
    #[embed]
    pub(super) lines: Vec<Line>,
    pub(super) total: f64,
    pub(super) placed: DateTime,
}

#[derive(Debug, Serialize, Deserialize, Embed)]
pub(super) struct Line {
    #[reference(child)]
    pub(super) product: Ref<Product>,
    #[denormalize(from = "Product.name")]
    pub(super) product_name: String,
    pub(super) quantity: i64,
}

#[derive(Debug, Database)]
#[database(name = "shop", version = 1)]
pub(super) struct Shop {
    pub(super) customers: Repository<Customer>,
    pub(super) products: Repository<Product>,
    pub(super) reviews: Repository<Review>,
    pub(super) orders: Repository<Order>,
}
