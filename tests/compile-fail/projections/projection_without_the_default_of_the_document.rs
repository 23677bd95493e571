use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(default)]
    name: String,
}

#[derive(Serialize, Deserialize, Projection)]
#[projection(of = "Part")]
struct PartName {
    name: String,
}

fn main() {}

// - struct PartName {
// - name: String,
// + struct PartName {
// + #[serde(default)]
// + name: String,
