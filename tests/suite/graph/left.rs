//! The models with one part of the derived fields.

use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "authors")]
pub(crate) struct Author {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    name: String,
    #[count(of = "Post")]
    pub(crate) posts: i64,
    /// A reverse copy of a count.
    #[denormalize(from = "Post.comments", via = "Post.author")]
    talk: Vec<i64>,
    #[split(collection = "bios", key = "author")]
    bio: Cold<Bio>,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct Bio {
    text: String,
    #[reference(child, on_delete = "nullify")]
    mentor: Option<Ref<Author>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "editors")]
pub(crate) struct Editor {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    name: String,
    #[reference(child, inverse = "editor")]
    blogs: Vec<Ref<Blog>>,
    /// A count that is filtered by a count.
    #[count(of = "Blog", filter = crowded)]
    crowded: i64,
    #[version]
    revision: i64,
}

fn crowded() -> Filter<Blog> {
    Blog::fields().lively.gte(1)
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "blogs")]
pub(crate) struct Blog {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    title: String,
    #[reference(parent, inverse = "blogs")]
    editor: Option<Ref<Editor>>,
    #[denormalize(from = "Editor.name")]
    editor_name: Option<String>,
    /// Sorted by a count of the children's own children.
    #[subset(limit = 2, sort = "-comments")]
    pub(crate) top: Subset<PostLine>,
    lively: i32,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Post")]
pub(crate) struct PostLine {
    pub(crate) title: String,
    comments: i64,
    author_name: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "posts")]
pub(crate) struct Post {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    title: String,
    #[reference(parent, on_delete = "cascade")]
    blog: Ref<Blog>,
    #[reference(parent, on_delete = "nullify")]
    author: Option<Ref<Author>>,
    author_name: Option<String>,
    #[denormalize(from = "Author.posts")]
    author_posts: Option<i64>,
    /// A copy of a subset, and of its elements.
    #[denormalize(from = "Blog.top")]
    blog_top: Subset<PostLine>,
    comments: i64,
    #[denormalize(from = "Tag.name", via = "Tag.posts")]
    tags: Vec<String>,
    #[version]
    revision: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "comments")]
pub(crate) struct Comment {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[reference(parent, on_delete = "cascade")]
    post: Ref<Post>,
    hidden: bool,
    #[denormalize(from = "Post.title")]
    post_title: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "likes")]
pub(crate) struct Like {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[reference(parent, on_delete = "cascade")]
    comment: Ref<Comment>,
    #[reference(parent, unchecked)]
    fan: Option<Ref<Author>>,
    #[denormalize(from = "Author.posts", via = "fan")]
    fan_posts: Option<i64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "awards")]
pub(crate) struct Award {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[reference(parent, on_delete = "keep")]
    post: Ref<Post>,
    #[denormalize(from = "Post.comments")]
    comments: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "tags")]
pub(crate) struct Tag {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    name: String,
    /// It restricts.
    #[reference(child)]
    owner: Ref<Author>,
    #[reference(child, on_delete = "pull")]
    posts: Vec<Ref<Post>>,
    #[embed]
    links: Vec<PostLink>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embed)]
struct PostLink {
    #[reference(child, on_delete = "pull")]
    id: Ref<Post>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "nodes")]
pub(crate) struct Node {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    name: String,
    #[reference(parent, on_delete = "cascade")]
    parent: Option<Ref<Node>>,
    size: i64,
    #[subset(limit = 2, sort = "-size")]
    largest: Subset<NodeLine>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Node")]
struct NodeLine {
    name: String,
    size: i64,
}

#[derive(Database)]
#[database(name = "left", version = 1)]
pub(crate) struct Left {
    pub(crate) authors: Repository<Author>,
    pub(crate) editors: Repository<Editor>,
    pub(crate) blogs: Repository<Blog>,
    pub(crate) posts: Repository<Post>,
    pub(crate) comments: Repository<Comment>,
    pub(crate) likes: Repository<Like>,
    pub(crate) awards: Repository<Award>,
    pub(crate) tags: Repository<Tag>,
    pub(crate) nodes: Repository<Node>,
}
