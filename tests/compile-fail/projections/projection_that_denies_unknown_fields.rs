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
#[projection(of = "Part")]
#[serde(deny_unknown_fields)]
struct Brief {
    name: String,
}

fn main() {}

// - #[serde(deny_unknown_fields)]
//   struct Brief {
