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

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(child)]
    part: Ref<Part>,
}

async fn run(hosts: Repository<Host>) -> odm::Result<()> {
    let rows = hosts.all().join(Use::fields().part).await?;
    drop(rows);
    Ok(())
}

fn main() {}

// - async fn run(hosts: Repository<Host>) -> odm::Result<()> {
// -     let rows = hosts.all().join(Use::fields().part).await?;
// + async fn run(uses: Repository<Use>) -> odm::Result<()> {
// +     let rows = uses.all().join(Use::fields().part).await?;
