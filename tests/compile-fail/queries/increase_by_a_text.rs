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
    parts.update(1).inc(Part::fields().qty, "1").await?;
    Ok(())
}

fn main() {}

// - parts.update(1).inc(Part::fields().qty, "1").await?;
// + parts.update(1).inc(Part::fields().qty, 1).await?;
