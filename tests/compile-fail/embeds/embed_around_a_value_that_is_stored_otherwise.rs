use odm::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

mod hex {
    use super::*;

    pub fn serialize<S: Serializer>(number: &i64, to: S) -> Result<S::Ok, S::Error> {
        format!("{number:x}").serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
        let text = String::deserialize(from)?;
        i64::from_str_radix(&text, 16).map_err(serde::de::Error::custom)
    }
}

#[derive(Serialize, Deserialize, Embed)]
struct Number(#[serde(with = "hex")] i64);

fn main() {}

// - #[derive(Serialize, Deserialize, Embed)]
// + #[derive(Serialize, Deserialize)]
