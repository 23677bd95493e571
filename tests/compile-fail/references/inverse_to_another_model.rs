use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child, inverse = "owner")]
    tasks: Vec<Ref<Task>>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "suppliers")]
struct Supplier {
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
    #[reference(parent)]
    owner: Option<Ref<Supplier>>,
}

fn main() {}

// - #[reference(parent)]
// - owner: Option<Ref<Supplier>>,
// + #[reference(parent, inverse = "tasks")]
// + owner: Option<Ref<Person>>,
