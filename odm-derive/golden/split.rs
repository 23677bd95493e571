//! A document with a cold part.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "movies")]
pub struct Movie {
    #[serde(rename = "_id")]
    pub id: i64,
    pub title: String,
    #[split(collection = "movie_details", key = "movie_id")]
    pub details: Cold<Details>,
}

#[derive(Serialize, Deserialize, Embed)]
pub struct Details {
    pub plot: String,
}
