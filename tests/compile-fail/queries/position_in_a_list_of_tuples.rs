use odm::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    tags: Vec<String>,
    names: BTreeMap<String, String>,
    pairs: Vec<(String, i64)>,
}

fn main() {
    let _ = Part::fields().pairs.at(0, |_| Filter::all());
}

// - let _ = Part::fields().pairs.at(0, |_| Filter::all());
// + let _ = Part::fields().pairs.contains(("new".to_owned(), 1));
