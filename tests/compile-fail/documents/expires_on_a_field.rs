use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "sessions")]
struct Session {
    #[serde(rename = "_id")]
    id: i64,
    #[expires(after = "30d")]
    seen: DateTime,
}

fn main() {}

// - #[document(collection = "sessions")]
// + #[document(collection = "sessions", expires(field = "seen", after = "30d"))]
//
// - #[expires(after = "30d")]
