use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
enum Priority {
    Low,
    High,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "lists")]
struct List {
    #[serde(rename = "_id")]
    id: i64,
    #[subset(limit = 10, sort = "-priority")]
    first: Subset<Task>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    list: Ref<List>,
    #[embed]
    priority: Priority,
}

fn main() {}

// - Low,
// + #[serde(rename = "1-low")]
// + Low,
//
// - High,
// + #[serde(rename = "2-high")]
// + High,
