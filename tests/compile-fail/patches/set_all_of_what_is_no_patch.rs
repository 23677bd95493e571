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

#[derive(Deserialize)]
struct TaskPatch {
    title: Option<String>,
}

fn main() {
    let patch = TaskPatch { title: None };
    let _ = Update::<Task>::new().set_all(patch);
}

// - #[derive(Deserialize)]
// + #[derive(Deserialize, Patch)] #[patch(of = "Task")]
