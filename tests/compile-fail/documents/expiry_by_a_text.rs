use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "sessions", expires(field = "user", after = "30d"))]
struct Session {
    #[serde(rename = "_id")]
    id: i64,
    user: String,
    seen: DateTime,
}

fn main() {}

// - #[document(collection = "sessions", expires(field = "user", after = "30d"))]
// + #[document(collection = "sessions", expires(field = "seen", after = "30d"))]
