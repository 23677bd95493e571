use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i64,
    #[count(of = "Article", via = "rest.editor")]
    edited: i64,
}

#[derive(Serialize, Deserialize, Embed)]
struct Rest {
    text: String,
    #[reference(parent)]
    editor: Ref<User>,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "articles")]
struct Article {
    #[serde(rename = "_id")]
    id: i64,
    #[split(collection = "rests", key = "article")]
    rest: Cold<Rest>,
    #[reference(parent)]
    editor: Ref<User>,
}

fn main() {}

// - #[count(of = "Article", via = "rest.editor")]
// + #[count(of = "Article", via = "editor")]
