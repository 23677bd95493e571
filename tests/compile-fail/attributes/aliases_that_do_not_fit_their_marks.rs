use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

type PartRef = Ref<Part>;
type Parts = Vec<Ref<Part>>;
type Id = Option<i64>;

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: Id,
    #[reference(child, on_delete = "nullify")]
    part: PartRef,
    #[reference(child, on_delete = "nullify")]
    parts: Parts,
    #[reference(child)]
    #[serde(skip_serializing_if = "is_old")]
    old: PartRef,
}

fn is_old(_: &PartRef) -> bool {
    true
}

fn main() {}

// - type PartRef = Ref<Part>;
// + type PartRef = Option<Ref<Part>>;
//
// - type Id = Option<i64>;
// + type Id = i64;
//
// - #[reference(child, on_delete = "nullify")]
// + #[reference(child, on_delete = "pull")]
//   parts: Parts,
//
// - #[serde(skip_serializing_if = "is_old")]
// + #[serde(default, skip_serializing_if = "is_old")]
