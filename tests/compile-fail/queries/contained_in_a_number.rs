use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    qty: i32,
    tags: Vec<String>,
    #[reference(child)]
    like: Option<Ref<Part>>,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    let found = parts.find(Part::fields().qty.contains(1)).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = parts.find(Part::fields().qty.contains(1)).await?;
// + let found = parts.find(Part::fields().name.contains("1")).await?;
