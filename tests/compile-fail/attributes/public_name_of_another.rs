use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    #[public(rename = "name")]
    id: i64,
    name: String,
}

fn main() {}

// - #[public(rename = "name")]
// + #[public(rename = "id")]
