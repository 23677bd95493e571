use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child, inverse = "boss")]
    tasks: Vec<Ref<Task>>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i64,
    description: String,
    #[reference(parent)]
    owner: Option<Ref<Person>>,
}

fn main() {}

// - #[reference(child, inverse = "boss")]
// + #[reference(child, inverse = "owner")]
//
// - #[reference(parent)]
// + #[reference(parent, inverse = "tasks")]
