//! A blog that shows its most commented posts: a subset sorted by a count, which follows the comments of the posts.

use odm::{Finding, prelude::*};
use serde::{Deserialize, Serialize};

use crate::show::{Screen, change};

/// A blog that shows its ten most commented posts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "blogs")]
pub struct Blog {
    /// Its number.
    #[serde(rename = "_id")]
    pub id: i32,
    /// The title.
    pub title: String,
    /// The most commented posts, the most commented first.
    #[subset(limit = 10, sort = "-comment_count")]
    pub most_commented: Subset<PostSummary>,
}

/// A post in a blog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "blog_posts")]
pub struct Post {
    /// Its number.
    #[serde(rename = "_id")]
    pub id: i32,
    /// The blog.
    #[reference(parent, on_delete = "cascade")]
    pub blog: Ref<Blog>,
    /// The title.
    pub title: String,
    /// How many comments there are.
    #[count(of = "Comment")]
    pub comment_count: i64,
}

/// The summary of a post in its blog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Post")]
pub struct PostSummary {
    /// Its number.
    #[serde(rename = "_id")]
    pub id: i32,
    /// The title.
    pub title: String,
    /// How many comments there are.
    pub comment_count: i64,
}

/// A comment on a post.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "blog_comments")]
pub struct Comment {
    /// Its number.
    #[serde(rename = "_id")]
    pub id: i32,
    /// The post.
    #[reference(parent, on_delete = "cascade")]
    pub post: Ref<Post>,
    /// The text.
    pub text: String,
}

/// Blogs.
#[derive(Database)]
#[database(name = "blogs", version = 1)]
pub struct Blogs {
    /// The blogs.
    pub blogs: Repository<Blog>,
    /// Their posts.
    pub posts: Repository<Post>,
    /// The comments on these.
    pub comments: Repository<Comment>,
}

/// Stores a blog with twelve posts, where the n-th post has n - 1 comments.
pub async fn load(db: &Blogs) -> odm::Result<()> {
    let blog = db
        .blogs
        .insert(Blog {
            id: 1,
            title: "Schema design".into(),
            most_commented: Subset::new(),
        })
        .await?;
    let posts = (1..=12).map(|id| Post {
        id,
        blog: Ref::from(&blog),
        title: format!("Rule of thumb {id}"),
        comment_count: 0,
    });
    let posts = db.posts.insert_many(posts).await?;
    let mut comments = Vec::new();
    for post in &posts {
        for _ in 1..post.id {
            comments.push(comment(comments.len() as i32 + 1, post));
        }
    }
    db.comments.insert_many(comments).await?;
    Ok(())
}

/// A comment on a post.
pub fn comment(id: i32, post: &Post) -> Comment {
    Comment {
        id,
        post: Ref::from(post),
        text: format!("Comment {id}"),
    }
}

/// S13: twelve comments on the post that had no comments.
pub async fn run(screen: &mut Screen) -> odm::Result<Vec<Finding>> {
    let db = Blogs::open(screen.store()).await?;
    load(&db).await?;
    screen.model(include_str!("blogs.rs"), &["Blog", "Post"]);
    screen.stored(["blogs"]).await?;

    let first = db.posts.get(1).await?;
    let comments = (101..=112).map(|id| comment(id, &first));
    change!(
        screen,
        "twelve comments on a post, which so leads the blog's page",
        db.comments.insert_many(comments)
    );
    db.audit().await
}
