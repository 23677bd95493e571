use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Number(#[validate(min = 0)] i64);

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: Number,
}

fn main() {}

// - struct Number(#[validate(min = 0)] i64);
// + struct Number(i64);
