use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "categories")]
struct Category {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    parent: Option<Ref<Category>>,
    #[ancestors(via = "parnt")]
    path: Ancestors<Category>,
}

fn main() {}

// - #[ancestors(via = "parnt")]
// + #[ancestors(via = "parent")]
