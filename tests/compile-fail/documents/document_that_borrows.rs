use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part<'a> {
    #[serde(rename = "_id")]
    id: i64,
    name: &'a str,
}

fn main() {}

// - struct Part<'a> {
// + struct Part {
//
// - name: &'a str,
// + name: String,
