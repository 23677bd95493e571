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
struct Brief {}

fn main() {}

// - struct Brief {}
// + struct Brief {
// +     name: String,
// + }
