use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embed)]
struct Left {
    #[embed]
    right: Option<Box<Right>>,
}

#[derive(Serialize, Deserialize, Embed)]
struct Right {
    #[embed]
    left: Option<Box<Left>>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "pairs")]
struct Pair {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    left: Left,
}

#[derive(Database)]
#[database(name = "pairs", version = 1)]
struct Pairs {
    pairs: Repository<Pair>,
}

fn main() {}

// - left: Option<Box<Left>>,
// + left: Option<Box<Right>>,
