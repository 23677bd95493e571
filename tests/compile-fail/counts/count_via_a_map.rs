use odm::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Article", via = "authors.id")]
    articles: i64,
}

#[derive(Serialize, Deserialize, Embed)]
struct Author {
    #[reference(parent)]
    id: Ref<User>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "articles")]
struct Article {
    #[serde(rename = "_id")]
    id: i64,
    #[embed]
    authors: BTreeMap<String, Author>,
}

fn main() {}

// - authors: BTreeMap<String, Author>,
// + authors: Vec<Author>,
