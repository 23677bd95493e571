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
    let found = parts.find(Part::fields().tags.gt(Vec::new())).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = parts.find(Part::fields().tags.gt(Vec::new())).await?;
// + let found = parts.find(Part::fields().qty.gt(1)).await?;
