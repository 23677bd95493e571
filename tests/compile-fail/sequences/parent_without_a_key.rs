use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "projects")]
struct Project {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "issues")]
struct Issue {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    project: Ref<Project>,
    #[sequence("project")]
    number: i64,
}

fn main() {}

// - #[sequence("project")]
// + #[sequence(within = "project")]
