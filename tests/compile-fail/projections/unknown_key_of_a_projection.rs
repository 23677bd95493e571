use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Deserialize, Projection)]
#[projection(from = "Part")]
struct Brief {
    name: String,
}

fn main() {}

// - #[projection(from = "Part")]
// + #[projection(of = "Part")]
