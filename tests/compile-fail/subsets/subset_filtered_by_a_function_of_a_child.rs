use odm::prelude::*;
use serde::{Deserialize, Serialize};

fn recent(_: &Log) -> bool {
    true
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Log", filter = recent)]
    logs: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "logs")]
struct Log {
    #[serde(rename = "_id")]
    id: i64,
    #[reference(parent)]
    owner: Ref<Use>,
}

fn main() {}

// - fn recent(_: &Log) -> bool {
// -     true
// + fn recent() -> Filter<Log> {
// +     Filter::all()
