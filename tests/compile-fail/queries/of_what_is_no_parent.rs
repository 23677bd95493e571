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

async fn run(parts: Repository<Part>, host: Host) -> odm::Result<()> {
    let children = parts.of(&host).await?;
    drop(children);
    Ok(())
}

fn main() {}

//   struct Part {
//       #[serde(rename = "_id")]
//       id: i64,
// +     #[reference(parent)]
// +     host: Ref<Host>,
