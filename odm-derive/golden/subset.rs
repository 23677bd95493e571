//! A subset of the children, and the projection that it shows.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
pub struct Product {
    #[serde(rename = "_id")]
    pub id: i64,
    #[subset(limit = 10, sort = "-written, stars", via = "product", filter = published)]
    pub reviews: Subset<Summary>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
pub struct Review {
    #[serde(rename = "_id")]
    pub id: ObjectId,
    #[reference(parent)]
    pub product: Ref<Product>,
    pub stars: i32,
    pub written: DateTime,
}

#[derive(Serialize, Deserialize, Projection)]
#[projection(of = "Review")]
pub struct Summary {
    pub stars: i32,
    pub written: DateTime,
}

fn published() -> Filter<Review> {
    Review::fields().stars.gt(0)
}
