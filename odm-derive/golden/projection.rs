//! A projection of a document.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
pub struct Review {
    #[serde(rename = "_id")]
    pub id: i64,
    pub author: String,
    #[serde(rename = "rating")]
    pub stars: i32,
    pub text: String,
}

#[derive(Deserialize, Projection)]
#[projection(of = "Review")]
pub struct Summary {
    pub author: String,
    #[serde(rename = "rating")]
    pub stars: i32,
}
