//! Subset arrays are what their definition says, after every write, by every way of writing.

mod history;
mod writes;

use odm::prelude::*;
use serde::{Deserialize, Serialize};

/// A post that shows the newest comments, and the best of those that are published.
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

/// What a post shows, by the definition: from all comments, without the library.
fn definition(post: i32, comments: &[Comment]) -> (Vec<CommentLine>, Vec<Comment>) {
    let of_post = |comment: &&Comment| comment.post.as_ref().is_some_and(|of| *of.id() == post);
    let mut newest: Vec<&Comment> = comments.iter().filter(of_post).collect();
    newest.sort_by_key(|comment| (std::cmp::Reverse(comment.written), comment.id));
    let line = |comment: &&Comment| CommentLine {
        text: comment.text.clone(),
        written: comment.written,
    };
    let mut best: Vec<&Comment> = comments
        .iter()
        .filter(of_post)
        .filter(|comment| comment.published)
        .collect();
    best.sort_by_key(|comment| (comment.score.rating, comment.id));
    let best = best
        .iter()
        .skip(best.len().saturating_sub(2))
        .map(|&best| best.clone());
    (newest.iter().take(3).map(line).collect(), best.collect())
}

/// All posts show what the definition says.
async fn assert_right(db: &Blog) {
    let comments = db.comments.all().await.unwrap();
    for post in db.posts.all().await.unwrap() {
        let shown = (post.newest.into_vec(), post.best.into_vec());
        assert_eq!(shown, definition(post.id, &comments), "post {}", post.id);
    }
}
