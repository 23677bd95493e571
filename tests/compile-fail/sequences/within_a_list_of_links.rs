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
    note: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "issues")]
struct Issue {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    links: Vec<Link>,
    #[sequence(within = "links.id")]
    number: i64,
}

fn main() {}

// - links: Vec<Link>,
// + links: Link,
