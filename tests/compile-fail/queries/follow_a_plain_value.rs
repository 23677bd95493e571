use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    let found = parts.find(Part::fields().name.first.eq("a")).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = parts.find(Part::fields().name.first.eq("a")).await?;
// + let found = parts.find(Part::fields().name.starts_with("a")).await?;
