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
    let found = parts.all().join(Part::fields().like.referrers().join(Part::fields().name)).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = parts.all().join(Part::fields().like.referrers().join(Part::fields().name)).await?;
// + let found = parts.all().join(Part::fields().like.referrers().join(Part::fields().like)).await?;
