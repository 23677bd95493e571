use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

type PartRef = Ref<Part>;

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "screws")]
struct Screw {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    part: Ref<Part>,
    #[reference(parent)]
    other: PartRef,
}

async fn run(screws: Repository<Screw>, part: Part) -> odm::Result<()> {
    let found = screws.of(&part).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = screws.of(&part).await?;
// + let found = screws.find(Screw::fields().part.eq(&part)).await?;
