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
    parts.update(1).inc(Part::fields().name, "1").await?;
    Ok(())
}

fn main() {}

// - parts.update(1).inc(Part::fields().name, "1").await?;
// + parts.update(1).set(Part::fields().name, "1").await?;
