use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "suppliers")]
struct Supplier {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Clone, Serialize, Deserialize, Embed)]
struct Origin {
    #[reference(child)]
    supplier: Ref<Supplier>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    origin: Origin,
}

#[derive(Serialize, Deserialize, Embed)]
struct PartLink {
    #[reference(child)]
    id: Ref<Part>,
    #[denormalize(from = "Part.origin")]
    origin: Origin,
}

fn main() {}

//   struct Origin {
// -     #[reference(child)]
// -     supplier: Ref<Supplier>,
// +     country: String,
