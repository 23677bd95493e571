//! The models of a program with base data alone: no reference, no version and no derived field.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "editors")]
pub(crate) struct Editor {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "blogs")]
pub(crate) struct Blog {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    editor: Option<i32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "posts")]
pub(crate) struct Post {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    blog: i32,
    author: Option<i32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "comments")]
pub(crate) struct Comment {
    #[serde(rename = "_id")]
    id: i32,
    post: i32,
    hidden: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "likes")]
pub(crate) struct Like {
    #[serde(rename = "_id")]
    id: i32,
    comment: i32,
    fan: Option<i32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "awards")]
pub(crate) struct Award {
    #[serde(rename = "_id")]
    id: i32,
    post: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "tags")]
pub(crate) struct Tag {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    owner: i32,
    posts: Vec<i32>,
    #[opaque]
    links: Vec<PostLink>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct PostLink {
    id: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "nodes")]
pub(crate) struct Node {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    parent: Option<i32>,
}

#[derive(Database)]
#[database(name = "bare", version = 1)]
pub(crate) struct Bare {
    pub(crate) editors: Repository<Editor>,
    pub(crate) blogs: Repository<Blog>,
    pub(crate) posts: Repository<Post>,
    pub(crate) comments: Repository<Comment>,
    pub(crate) likes: Repository<Like>,
    pub(crate) awards: Repository<Award>,
    pub(crate) tags: Repository<Tag>,
    pub(crate) nodes: Repository<Node>,
}
