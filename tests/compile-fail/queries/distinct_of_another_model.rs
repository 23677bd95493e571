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
    let names = parts.all().distinct(Host::fields().name).await?;
    drop(names);
    Ok(())
}

fn main() {}

// - let names = parts.all().distinct(Host::fields().name).await?;
// + let names = parts.all().distinct(Part::fields().name).await?;
