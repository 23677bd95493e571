use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "hosts")]
struct Host {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    parts.update(1).set(Host::fields().name, "a").await?;
    Ok(())
}

fn main() {}

// - parts.update(1).set(Host::fields().name, "a").await?;
// + parts.update(1).set(Part::fields().name, "a").await?;
