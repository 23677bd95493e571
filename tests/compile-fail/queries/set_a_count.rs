use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Review")]
    reviews: u32,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    part: Ref<Part>,
    stars: i32,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    parts.update(1).set(Part::fields().reviews, 5u32).await?;
    Ok(())
}

fn main() {}

// - async fn run(parts: Repository<Part>) -> odm::Result<()> {
// -     parts.update(1).set(Part::fields().reviews, 5u32).await?;
// + async fn run(reviews: Repository<Review>) -> odm::Result<()> {
// +     reviews.update(1).set(Review::fields().stars, 5).await?;
