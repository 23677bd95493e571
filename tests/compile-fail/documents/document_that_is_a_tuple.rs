use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part(i64, String);

fn main() {}

// - struct Part(i64, String);
// + struct Part {
// +     #[serde(rename = "_id")]
// +     id: i64,
// +     name: String,
// + }
