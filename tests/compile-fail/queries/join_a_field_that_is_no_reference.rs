use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

fn find(parts: Repository<Part>) {
    let _ = parts.find(Filter::all()).join(Part::fields().name);
}

fn main() {}
