use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "categories")]
struct Category {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    parents: Vec<Ref<Category>>,
    #[ancestors(via = "parents")]
    path: Ancestors<Category>,
}

fn main() {}

// - parents: Vec<Ref<Category>>,
// + parents: Option<Ref<Category>>,
