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
    let found = uses.all().join(Use::fields().part.referrers()).await?;
    drop(found);
    Ok(())
}

fn main() {}

// - async fn run(uses: Repository<Use>) -> odm::Result<()> {
// -     let found = uses.all().join(Use::fields().part.referrers()).await?;
// + async fn run(parts: Repository<Part>) -> odm::Result<()> {
// +     let found = parts.all().join(Use::fields().part.referrers()).await?;
