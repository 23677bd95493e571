use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Deserialize, Projection)]
#[projection(of = "Part")]
struct Brief {
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    parts: Vec<Ref<Brief>>,
}

fn main() {}

// - parts: Vec<Ref<Brief>>,
// + parts: Vec<Ref<Part>>,
