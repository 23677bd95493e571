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

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[serde(with = "text")]
    number: i64,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    let found = parts.find(Part::fields().number.eq(5)).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = parts.find(Part::fields().number.eq(5)).await?;
// + let found = parts.find(Part::fields().number.exists(true)).await?;
