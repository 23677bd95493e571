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
enum TaskPatch {
    Title(String),
}

fn main() {}

// - enum TaskPatch {
// - Title(String),
// + struct TaskPatch {
// + title: Option<String>,
