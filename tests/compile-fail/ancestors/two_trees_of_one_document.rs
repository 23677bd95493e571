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
    #[reference(parent)]
    owner: Option<Ref<Category>>,
    #[ancestors(via = "owner")]
    owners: Ancestors<Category>,
}

fn main() {}

// - #[ancestors(via = "owner")]
// - owners: Ancestors<Category>,
