use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[index(unique)]
    name: String,
}

async fn run(parts: Repository<Part>, part: Part) -> odm::Result<()> {
    let stored = parts.upsert_by(Part::fields().name.eq("bolt"), part).await?;
    drop(stored);
    Ok(())
}

fn main() {}

// - let stored = parts.upsert_by(Part::fields().name.eq("bolt"), part).await?;
// + let stored = parts.upsert_by(Part::fields().name, part).await?;
