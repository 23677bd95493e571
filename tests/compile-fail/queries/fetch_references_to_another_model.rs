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
#[document(collection = "hosts")]
struct Host {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

async fn run(parts: Repository<Part>, host: Ref<Host>) -> odm::Result<()> {
    let found = parts.fetch(&host).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - async fn run(parts: Repository<Part>, host: Ref<Host>) -> odm::Result<()> {
// -     let found = parts.fetch(&host).await?;
// + async fn run(parts: Repository<Part>, part: Ref<Part>) -> odm::Result<()> {
// +     let found = parts.fetch(&part).await?;
