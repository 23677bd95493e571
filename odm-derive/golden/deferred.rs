//! A copy and a count that follow after the write.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "authors")]
pub struct Author {
    #[serde(rename = "_id")]
    pub id: i64,
    pub name: String,
    #[count(of = "Post", refresh = "later")]
    pub posts: u32,
}

#[derive(Serialize, Deserialize, Document)]
#[document(collection = "posts")]
pub struct Post {
    #[serde(rename = "_id")]
    pub id: ObjectId,
    #[reference(parent)]
    pub author: Ref<Author>,
    #[denormalize(from = "Author.name", refresh = "later")]
    pub author_name: String,
}
