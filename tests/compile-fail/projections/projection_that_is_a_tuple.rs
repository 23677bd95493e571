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
struct Brief(String);

fn main() {}

// - struct Brief(String);
// + struct Brief {
// +     name: String,
// + }
