use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i64,
    #[index(unique)]
    email: String,
    #[index(unique, filter = active)]
    name: String,
    active: bool,
}

fn active() -> Filter<User> {
    User::fields().active.eq(true)
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
