use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

fn unset(parts: Repository<Part>) {
    let _ = parts.update(1).unset(Part::fields().name);
}

fn main() {}
