use odm::prelude::*;
use serde::{Deserialize, Serialize};

fn write<S: serde::Serializer>(price: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&price.to_string())
}

fn read<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(serialize_with = "write")]
    price: i64,
}

fn main() {}

// - #[serde(serialize_with = "write")]
// + #[serde(serialize_with = "write", deserialize_with = "read")]
