use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts", new = "NewPart", indexes(fields = "name"))]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

async fn run(parts: Repository<Part>) -> odm::Result<Part> {
    let new = NewPart { id: 1, name: "bolt".into() };
    parts.insert(new).await
}

fn main() {}

// - #[document(collection = "parts", new = "NewPart", indexes(fields = "name"))]
// + #[document(collection = "parts", new = "NewPart", index(fields = "name"))]
