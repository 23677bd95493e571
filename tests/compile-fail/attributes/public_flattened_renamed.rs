use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Origin {
    country: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    #[serde(flatten)]
    #[public(rename = "origin")]
    origin: Origin,
}

fn main() {}

// - #[public(rename = "origin")]
// + #[public(skip)]
