use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i64,
    #[public(hide)]
    hash: String,
}

fn main() {}

// - #[public(hide)]
// + #[public(skip)]
