use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child, unchecked, inverse = "owner")]
    tasks: Vec<Ref<Task>>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i64,
    description: String,
    #[reference(parent, inverse = "tasks")]
    owner: Option<Ref<Person>>,
}

fn main() {}

// - #[reference(child, unchecked, inverse = "owner")]
// + #[reference(child, inverse = "owner")]
