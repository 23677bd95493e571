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
    parts.modify("one", |part| part.name.push('s')).await?;
    Ok(())
}

fn main() {}

// - parts.modify("one", |part| part.name.push('s')).await?;
// + parts.modify(1, |part| part.name.push('s')).await?;
