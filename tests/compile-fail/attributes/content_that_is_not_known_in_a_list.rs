use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Plain {
    value: i64,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i64,
    hidden: Option<Vec<Plain>>,
}

fn main() {}

// - #[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
// + #[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Embed)]
//
// + #[embed]
//   hidden: Option<Vec<Plain>>,
