use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i64,
    description: String,
    #[reference(parent, on_delete = "pull")]
    owner: Ref<Person>,
}

fn main() {}

// - #[reference(parent, on_delete = "pull")]
// + #[reference(parent, on_delete = "cascade")]
