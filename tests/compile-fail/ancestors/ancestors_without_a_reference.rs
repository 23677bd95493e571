use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "categories")]
struct Category {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    parent: Option<Ref<Category>>,
    #[ancestors]
    path: Ancestors<Category>,
}

fn main() {}

// - #[ancestors]
// + #[ancestors(via = "parent")]
