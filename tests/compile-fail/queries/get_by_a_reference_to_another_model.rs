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

async fn run(parts: Repository<Part>, used: Ref<Use>) -> odm::Result<()> {
    let found = parts.get(used).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - async fn run(parts: Repository<Part>, used: Ref<Use>) -> odm::Result<()> {
// -     let found = parts.get(used).await?;
// + async fn run(parts: Repository<Part>, part: Ref<Part>) -> odm::Result<()> {
// +     let found = parts.get(part).await?;
