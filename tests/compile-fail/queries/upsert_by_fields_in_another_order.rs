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

async fn save(work: Work, user: User) -> odm::Result<User> {
    let fields = User::fields();
    work.users.upsert_by((fields.number, fields.team), user).await
}

fn main() {}

// - work.users.upsert_by((fields.number, fields.team), user).await
// + work.users.upsert_by((fields.team, fields.number), user).await
