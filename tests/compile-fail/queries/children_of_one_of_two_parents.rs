use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    part: Ref<Part>,
    #[reference(parent)]
    other: Option<Ref<Part>>,
}

async fn run(reviews: Repository<Review>, part: Part) -> odm::Result<()> {
    let found = reviews.of(&part).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = reviews.of(&part).await?;
// + let found = reviews.find(Review::fields().part.eq(&part)).await?;
