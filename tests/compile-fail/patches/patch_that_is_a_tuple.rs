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
struct TaskPatch(Option<String>);

fn main() {}

// - struct TaskPatch(Option<String>);
// + struct TaskPatch { title: Option<String> }
