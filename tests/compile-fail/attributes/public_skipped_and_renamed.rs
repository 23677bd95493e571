use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i64,
    #[public(skip, rename = "secret")]
    hash: String,
}

fn main() {}

// - #[public(skip, rename = "secret")]
// + #[public(skip)]
