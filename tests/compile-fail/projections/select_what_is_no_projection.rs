use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    let found = parts.all().select::<Part>().await?;
    drop(found);
    Ok(())
}

fn main() {}

// - let found = parts.all().select::<Part>().await?;
// + let found = parts.all().await?;
