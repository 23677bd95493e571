use odm::{prelude::*, query::count};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Stock {
    place: String,
    qty: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    made: DateTime,
    qty: i32,
    #[embed]
    stock: Vec<Stock>,
}

async fn run(parts: Repository<Part>) -> odm::Result<()> {
    let found = parts.all().count_by(Part::fields().qty.start_of_day()).await?;
    drop((found, count()));
    Ok(())
}

fn main() {}

// - let found = parts.all().count_by(Part::fields().qty.start_of_day()).await?;
// + let found = parts.all().count_by(Part::fields().made.start_of_day()).await?;
