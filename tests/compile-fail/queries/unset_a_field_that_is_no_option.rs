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
    parts.update(1).unset(Part::fields().name).await?;
    Ok(())
}

fn main() {}

// - name: String,
// + name: Option<String>,
