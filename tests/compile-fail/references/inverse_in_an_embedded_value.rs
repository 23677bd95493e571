use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Embed)]
struct Watcher {
    #[reference(child, inverse = "name")]
    person: Ref<Person>,
}

fn main() {}

// - #[reference(child, inverse = "name")]
// + #[reference(child)]
