//! An embedded value around a reference, with a copy.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
pub struct Part {
    #[serde(rename = "_id")]
    pub id: i64,
    pub name: String,
}

#[derive(Serialize, Deserialize, Embed)]
pub struct PartLink {
    #[reference(child)]
    pub id: Ref<Part>,
    #[denormalize(from = "Part.name")]
    pub name: String,
}
