use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    tags: Vec<String>,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    let found = parts.all().sort(Part::fields().tags.asc()).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = parts.all().sort(Part::fields().tags.asc()).await?;
// + let found = parts.all().sort(Part::fields().id.asc()).await?;
