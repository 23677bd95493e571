use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i64,
    #[index(unique, filter = published)]
    email: String,
    active: bool,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "articles")]
struct Article {
    #[serde(rename = "_id")]
    id: i64,
    published: bool,
}

fn active() -> Filter<User> {
    User::fields().active.eq(true)
}

fn published() -> Filter<Article> {
    Article::fields().published.eq(true)
}

fn main() {}

// - #[index(unique, filter = published)]
// + #[index(unique, filter = active)]
