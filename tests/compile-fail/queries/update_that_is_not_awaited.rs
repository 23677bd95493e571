#![deny(unused_must_use)]

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

async fn rename(parts: Repository<Part>) {
    parts.update(1).set(Part::fields().name, "bolt");
}

fn main() {}

// - async fn rename(parts: Repository<Part>) {
// -     parts.update(1).set(Part::fields().name, "bolt");
// + async fn rename(parts: Repository<Part>) -> odm::Result<()> {
// +     parts.update(1).set(Part::fields().name, "bolt").await?;
// +     Ok(())
//   }
