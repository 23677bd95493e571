use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    qty: i32,
    tags: Vec<String>,
    #[reference(child)]
    like: Option<Ref<Part>>,
}

fn make() -> Ref<Part> {
    Ref::new("one")
}

fn main() {}

// - Ref::new("one")
// + Ref::new(1)
