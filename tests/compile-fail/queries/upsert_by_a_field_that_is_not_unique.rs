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
    work.users.upsert_by(User::fields().name, user).await
}

fn main() {}

// - work.users.upsert_by(User::fields().name, user).await
// + work.users.upsert_by(User::fields().email, user).await
