use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i64,
    title: String,
    #[version]
    revision: i64,
}

#[derive(Deserialize, Patch)]
#[patch(of = "Task")]
struct TaskPatch {
    title: Option<i64>,
}

fn main() {}

// - title: Option<i64>,
// + title: Option<String>,
