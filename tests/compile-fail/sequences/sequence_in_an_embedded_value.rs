use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "projects")]
struct Project {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Embed)]
struct Link {
    #[reference(parent)]
    id: Ref<Project>,
    #[sequence(within = "id")]
    number: i64,
}

fn main() {}

// - #[sequence(within = "id")]
