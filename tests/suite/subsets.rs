//! Subset arrays agree with their definition, after every write, in every way of writing.

mod audit;
mod history;
mod ids;
mod unread;
mod writes;

use std::cmp::Reverse;

use odm::prelude::*;
use serde::{Deserialize, Serialize};

/// A post that shows the newest comments, and the best of the published ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "posts")]
struct Post {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[subset(limit = 3, sort = "-written")]
    newest: Subset<CommentLine>,
    #[subset(limit = -2, sort = "score.rating", filter = published)]
    best: Subset<Comment>,
    /// Sorted by a field that it does not show.
    #[subset(limit = 2, sort = "-score.rating")]
    rated: Subset<CommentText>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[document(collection = "comments")]
struct Comment {
    #[serde(rename = "_id")]
    id: i32,
    #[reference(parent, unchecked)]
    post: Option<Ref<Post>>,
    written: i64,
    text: String,
    #[embed]
    score: Score,
    published: bool,
    /// In no subset of lines.
    note: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embed)]
struct Score {
    rating: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Comment")]
struct CommentLine {
    text: String,
    written: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Projection)]
#[projection(of = "Comment")]
struct CommentText {
    text: String,
}

fn published() -> Filter<Comment> {
    Comment::fields().published.eq(true)
}

#[derive(Database)]
#[database(name = "blog", version = 1)]
struct Blog {
    posts: Repository<Post>,
    comments: Repository<Comment>,
}

fn post(id: i32) -> Post {
    Post {
        id,
        title: format!("post {id}"),
        newest: Subset::new(),
        best: Subset::new(),
        rated: Subset::new(),
    }
}

fn comment(id: i32, post: i32, written: i64, rating: Option<i32>) -> Comment {
    Comment {
        id,
        post: Some(Ref::new(post)),
        written,
        text: format!("comment {id}"),
        score: Score { rating },
        published: true,
        note: 0,
    }
}

type Shown = (Vec<CommentLine>, Vec<Comment>, Vec<CommentText>);

/// The shown comments of a post.
fn shown(post: Post) -> Shown {
    (post.newest.into_vec(), post.best.into_vec(), post.rated.into_vec())
}

/// The comments that a post should show, by the definition: from all comments, without the library.
fn definition(post: i32, comments: &[Comment]) -> Shown {
    let of_post = |comment: &&Comment| comment.post.as_ref().is_some_and(|of| *of.id() == post);
    let mut newest: Vec<&Comment> = comments.iter().filter(of_post).collect();
    let mut best = newest.clone();
    let mut rated = newest.clone();
    newest.sort_by_key(|comment| (Reverse(comment.written), comment.id));
    let line =
        |comment: &&Comment| CommentLine { text: comment.text.clone(), written: comment.written };
    best.retain(|comment| comment.published);
    best.sort_by_key(|comment| (comment.score.rating, comment.id));
    let last = best.len().saturating_sub(2);
    rated.sort_by_key(|comment| (Reverse(comment.score.rating), comment.id));
    let text = |comment: &&Comment| CommentText { text: comment.text.clone() };
    (
        newest.iter().take(3).map(line).collect(),
        best[last..].iter().map(|&best| best.clone()).collect(),
        rated.iter().take(2).map(text).collect(),
    )
}

/// All posts show the comments of the definition.
async fn assert_right(db: &Blog) {
    let comments = db.comments.all().await.unwrap();
    for post in db.posts.all().await.unwrap() {
        let id = post.id;
        assert_eq!(shown(post), definition(id, &comments), "post {id}");
    }
}
