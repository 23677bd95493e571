use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "regions")]
struct Region {
    #[serde(rename = "_id")]
    id: i32,
    #[denormalize(from = "Thing.name", via = "Thing.detail.region")]
    names: Vec<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "things")]
struct Thing {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[split(collection = "details", key = "thing")]
    detail: Cold<Detail>,
}

#[derive(Serialize, Deserialize, Embed)]
struct Detail {
    #[reference(child)]
    region: Ref<Region>,
}

fn main() {}

// - #[reference(child)]
// - region: Ref<Region>,
// + text: String,
//
// + #[reference(child)]
// + region: Ref<Region>,
//   #[split(collection = "details", key = "thing")]
//
// - #[denormalize(from = "Thing.name", via = "Thing.detail.region")]
// + #[denormalize(from = "Thing.name", via = "Thing.region")]
