use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
}

type PartRef = Ref<Part>;

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "screws")]
struct Screw {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    part: Ref<Part>,
    #[reference(parent)]
    other: PartRef,
}

fn of(screws: Repository<Screw>, part: &Part) {
    let _ = screws.of(part);
}

fn main() {}
