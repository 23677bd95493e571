use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "categories")]
struct Category {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    parent: Option<Ref<Category>>,
    #[ancestors(via = "parent")]
    path: Ancestors<Category>,
}

#[derive(Serialize, Deserialize, Embed)]
struct Link {
    #[reference(parent)]
    id: Ref<Category>,
    #[ancestors(via = "id")]
    path: Ancestors<Category>,
}

fn main() {}

// - #[ancestors(via = "id")]
// + #[denormalize(from = "Category.path")]
