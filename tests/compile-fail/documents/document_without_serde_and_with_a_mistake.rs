use odm::prelude::*;

#[derive(Document)]
#[document(colection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

fn main() {}

// - #[derive(Document)]
// - #[document(colection = "parts")]
// + #[derive(serde::Serialize, serde::Deserialize, Document)]
// + #[document(collection = "parts")]
