use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses", indx(fields = "id"))]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(chld)]
    part: Ref<Part>,
    #[reference(child, on_delete = "cascad")]
    other: Ref<Part>,
}

fn main() {}

// - #[document(collection = "uses", indx(fields = "id"))]
// + #[document(collection = "uses", index(fields = "part"))]
//
// - #[reference(chld)]
// + #[reference(child)]
//
// - #[reference(child, on_delete = "cascad")]
// + #[reference(child, on_delete = "cascade")]
