use odm::prelude::*;
use serde::{Deserialize, Serialize};

mod text {
    pub fn serialize<S: serde::Serializer>(n: &i64, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(n)
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(_: D) -> Result<i64, D::Error> {
        Ok(0)
    }
}

#[derive(Serialize, Deserialize, Embed)]
enum Event {
    #[serde(with = "text")]
    Sold(i64),
}

fn main() {}

// - #[serde(with = "text")]
// - Sold(i64),
// + Sold(#[serde(with = "text")] i64),
