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

async fn run(uses: Repository<Use>) -> odm::Result<()> {
    uses.update(1).unset(Use::fields().part.optional()).await?;
    Ok(())
}

fn main() {}

// - async fn run(uses: Repository<Use>) -> odm::Result<()> {
// -     uses.update(1).unset(Use::fields().part.optional()).await?;
// + async fn run(parts: Repository<Part>) -> odm::Result<()> {
// +     parts.update(1).unset(Part::fields().like).await?;
