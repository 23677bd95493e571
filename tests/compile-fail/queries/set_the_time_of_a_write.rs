use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[updated_at]
    updated: DateTime,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    parts.update(1).set(Part::fields().updated, DateTime::now()).await
}

fn main() {}

// - parts.update(1).set(Part::fields().updated, DateTime::now()).await
// + parts.update(1).set(Part::fields().name, "new").await
