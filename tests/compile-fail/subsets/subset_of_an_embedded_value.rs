use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Line {
    text: String,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "hosts")]
struct Host {
    #[serde(rename = "_id")]
    id: i64,
    #[subset(limit = 3, sort = "text")]
    lines: Subset<Line>,
}

fn main() {}

// - #[subset(limit = 3, sort = "text")]
// - lines: Subset<Line>,
// + #[embed]
// + lines: Vec<Line>,
