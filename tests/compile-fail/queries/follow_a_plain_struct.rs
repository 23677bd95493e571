use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Size {
    width: f64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    qty: i32,
    #[opaque]
    size: Size,
    #[reference(child)]
    like: Option<Ref<Part>>,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    let found = parts.find(Part::fields().size.width.eq(1.0)).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = parts.find(Part::fields().size.width.eq(1.0)).await?;
// + let found = parts.find(Part::fields().size.exists(true)).await?;
