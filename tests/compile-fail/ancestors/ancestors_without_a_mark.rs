use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "categories")]
struct Category {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    parent: Option<Ref<Category>>,
    path: Ancestors<Category>,
}

fn main() {}

// - path: Ancestors<Category>,
// + #[ancestors(via = "parent")]
// + path: Ancestors<Category>,
