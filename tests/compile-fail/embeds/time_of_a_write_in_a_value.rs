use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    price: Price,
}

#[derive(Serialize, Deserialize, Embed)]
struct Price {
    value: i64,
    #[updated_at]
    updated: DateTime,
}

fn main() {}

// - #[updated_at]
//   updated: DateTime,
