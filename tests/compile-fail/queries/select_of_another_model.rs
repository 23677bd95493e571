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

#[derive(Deserialize, Projection)]
#[projection(of = "Host")]
struct Brief {
    name: String,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    let rows = parts.all().select::<Brief>().await?;
    drop(rows);
    Ok(())
}

fn main() {}

// - #[projection(of = "Host")]
// + #[projection(of = "Part")]
