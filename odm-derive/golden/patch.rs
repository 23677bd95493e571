//! A patch of a document.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
pub struct Price {
    pub value: f64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "offers")]
pub struct Offer {
    #[serde(rename = "_id")]
    pub id: i64,
    pub title: String,
    pub until: Option<DateTime>,
    #[embed]
    pub price: Price,
}

#[derive(Deserialize, Patch)]
#[patch(of = "Offer")]
pub struct OfferPatch {
    pub title: Option<String>,
    #[serde(default, deserialize_with = "odm::present")]
    pub until: Option<Option<DateTime>>,
    #[patch(path = "price.value")]
    pub price: Option<f64>,
    #[patch(skip)]
    pub comment: String,
}
