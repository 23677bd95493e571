use odm::prelude::*;
use serde::{Deserialize, Serialize};

mod text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(price: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
        price.map(|price| price.to_string()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let price = text.map(|text| text.parse().map_err(serde::de::Error::custom));
        price.transpose()
    }
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(with = "text", skip_serializing_if = "Option::is_none")]
    price: Option<i64>,
}

fn main() {}

// - #[serde(with = "text", skip_serializing_if = "Option::is_none")]
// + #[serde(default, with = "text", skip_serializing_if = "Option::is_none")]
