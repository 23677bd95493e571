use odm::{migration::Migrations, prelude::*};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Database)]
#[database(name = "shop", version = 1, migrations = "steps")]
struct Shop {
    parts: Repository<Part>,
}

fn steps() -> Migrations {
    Migrations::new()
}

fn main() {}

// - #[database(name = "shop", version = 1, migrations = "steps")]
// + #[database(name = "shop", version = 1, migrations = steps)]
