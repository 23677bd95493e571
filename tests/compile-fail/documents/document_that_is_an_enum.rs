use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
enum Part {
    Bolt { id: i64 },
}

fn main() {}
