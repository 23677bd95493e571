//! The models with all derived fields, in one database.

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
    /// A copy of a count, in a cold part.
    #[denormalize(from = "Author.posts")]
    mentor_posts: Option<i64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "editors")]
pub(crate) struct Editor {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    name: String,
    #[reference(child, inverse = "editor")]
    blogs: Vec<Ref<Blog>>,
    #[subset(limit = -2, sort = "lively")]
    liveliest: Subset<BlogLine>,
    /// A count that is filtered by a count.
    #[count(of = "Blog", filter = crowded)]
    crowded: i64,
    #[version]
    revision: i64,
}

fn crowded() -> Filter<Blog> {
    Blog::fields().lively.gte(1)
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Blog")]
struct BlogLine {
    title: String,
    lively: i32,
    silent: i64,
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
    #[count(of = "Post", filter = lively)]
    lively: i32,
    #[count(of = "Post", filter = silent)]
    silent: i64,
    #[count(of = "Post", filter = by_busy)]
    by_busy: i64,
    #[version]
    revision: i64,
}

fn lively() -> Filter<Post> {
    Post::fields().comments.gte(2)
}

fn silent() -> Filter<Post> {
    Post::fields().best.len(0)
}

fn by_busy() -> Filter<Post> {
    Post::fields().author_posts.gte(2)
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
    #[denormalize(from = "Author.name")]
    author_name: Option<String>,
    #[denormalize(from = "Author.posts")]
    author_posts: Option<i64>,
    /// A copy of a subset, and of its elements.
    #[denormalize(from = "Blog.top")]
    blog_top: Subset<PostLine>,
    #[count(of = "Comment", filter = visible)]
    comments: i64,
    #[subset(limit = 2, sort = "-likes", filter = visible)]
    best: Subset<CommentLine>,
    #[denormalize(from = "Tag.name", via = "Tag.posts")]
    tags: Vec<String>,
    #[version]
    revision: i64,
}

fn visible() -> Filter<Comment> {
    Comment::fields().hidden.eq(false)
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
    /// A copy of a copy.
    #[denormalize(from = "Post.author_name")]
    post_author: Option<String>,
    #[count(of = "Like")]
    likes: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Comment")]
struct CommentLine {
    #[serde(rename = "_id")]
    id: i32,
    likes: i64,
    post_author: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "likes")]
pub(crate) struct Like {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[reference(parent, on_delete = "cascade")]
    comment: Ref<Comment>,
    #[denormalize(from = "Comment.post_author")]
    author: Option<String>,
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
    #[denormalize(from = "Post.title", freeze)]
    title_then: String,
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
    #[denormalize(from = "Post.comments")]
    comments: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "nodes")]
pub(crate) struct Node {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    name: String,
    #[reference(parent, on_delete = "cascade")]
    parent: Option<Ref<Node>>,
    #[count(of = "Node")]
    size: i64,
    #[subset(limit = 2, sort = "-size")]
    largest: Subset<NodeLine>,
    #[denormalize(from = "Node.size")]
    parent_size: Option<i64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Projection)]
#[projection(of = "Node")]
struct NodeLine {
    name: String,
    size: i64,
}

#[derive(Database)]
#[database(name = "whole", version = 1)]
pub(crate) struct Whole {
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
