use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    name: &'static str,
}

fn main() {}

// - name: &'static str,
// + name: String,
