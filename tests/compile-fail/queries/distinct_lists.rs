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
    let found = parts.all().distinct(Part::fields().tags).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = parts.all().distinct(Part::fields().tags).await?;
// + let found = parts.all().distinct(Part::fields().name).await?;
