use odm::prelude::*;

#[derive(Document)]
#[document(collection = "uses")]
union Use {
    id: i64,
}

fn main() {}

// - #[derive(Document)]
// + #[derive(serde::Serialize, serde::Deserialize, Document)]
//
// - union Use {
// + struct Use {
// +     #[serde(rename = "_id")]
