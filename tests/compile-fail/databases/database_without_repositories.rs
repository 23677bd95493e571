use odm::prelude::*;

#[derive(Database)]
#[database(name = "shop", version = 1)]
struct Shop {}

fn main() {}

// - struct Shop {}
// + struct Shop {
// +     parts: Repository<Part>,
// + }
// + #[derive(serde::Serialize, serde::Deserialize, Document)]
// + #[document(collection = "parts")]
// + struct Part {
// +     #[serde(rename = "_id")]
// +     id: i64,
// + }
