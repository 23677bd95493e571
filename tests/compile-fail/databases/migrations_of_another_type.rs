use odm::{migration::{Migrations, Step}, prelude::*};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: i64,
}

#[derive(Database)]
#[database(name = "shop", version = 2, migrations = steps)]
struct Shop {
    parts: Repository<Part>,
}

fn steps() -> Vec<Step> {
    vec![Step::remove("parts", "votes")]
}

fn all() -> Migrations {
    Migrations::new().to(2, steps())
}

fn main() {}

// - #[database(name = "shop", version = 2, migrations = steps)]
// + #[database(name = "shop", version = 2, migrations = all)]
