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
    #[opaque(deep)]
    hidden: Plain,
}

fn main() {}

// - #[opaque(deep)]
// + #[opaque]
