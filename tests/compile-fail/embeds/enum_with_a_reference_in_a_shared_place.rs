use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Embed)]
#[serde(tag = "kind")]
enum Subject {
    Part {
        #[reference(child)]
        id: Ref<Part>,
    },
    Text {
        id: String,
    },
}

fn main() {}

//   Text {
// -     id: String,
// +     text: String,
