use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "users", unique(fields = "team, number"))]
struct User {
    #[serde(rename = "_id")]
    id: i64,
    name: String,
    #[index(unique)]
    email: String,
    team: String,
    number: i64,
}

#[derive(Database)]
#[database(name = "work", version = 1)]
struct Work {
    users: Repository<User>,
}

async fn read(work: Work) -> odm::Result<()> {
    work.bulk((work.users.delete(1), work.users.get(2))).await?;
    Ok(())
}

fn main() {}

// - work.bulk((work.users.delete(1), work.users.get(2))).await?;
// + work.bulk((work.users.delete(1), work.users.delete(2))).await?;
