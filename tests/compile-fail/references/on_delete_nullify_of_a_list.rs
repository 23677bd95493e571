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
    #[reference(child, on_delete = "nullify")]
    watchers: Vec<Ref<Person>>,
}

fn main() {}

// - #[reference(child, on_delete = "nullify")]
// + #[reference(child, on_delete = "pull")]
