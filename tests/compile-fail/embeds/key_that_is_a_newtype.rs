use std::collections::BTreeMap;

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Embed)]
struct Language(String);

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
    names: BTreeMap<Language, String>,
}

fn main() {}

// - struct Language(String);
// + #[serde(transparent)]
// + struct Language(String);
