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

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    part: Ref<Part>,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    let found = parts.find(Part::fields().qty.eq(1) & Use::fields().id.eq(1)).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = parts.find(Part::fields().qty.eq(1) & Use::fields().id.eq(1)).await?;
// + let found = parts.find(Part::fields().qty.eq(1) & Part::fields().id.eq(1)).await?;
