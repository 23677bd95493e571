use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    revision: i64,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    parts.update(1).set(Part::fields().name, "bolt").if_version(1).await?;
    Ok(())
}

fn main() {}

// -     revision: i64,
// +     #[version]
// +     revision: i64,
