use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[updated_at]
    changed: DateTime,
    #[updated_at]
    touched: DateTime,
}

fn main() {}

// - #[updated_at]
//   touched: DateTime,
