use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "users", index(fields = "email", filter = "active"))]
struct User {
    #[serde(rename = "_id")]
    id: i64,
    email: String,
    active: bool,
}

fn active() -> Filter<User> {
    User::fields().active.eq(true)
}

fn main() {}

// - #[document(collection = "users", index(fields = "email", filter = "active"))]
// + #[document(collection = "users", index(fields = "email", filter = active))]
