use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    #[version]
    revision: i64,
}

fn renumber(parts: Repository<Part>) {
    let _ = parts.update(1).set(Part::fields().revision, 2);
}

fn main() {}
