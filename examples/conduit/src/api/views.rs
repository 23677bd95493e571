//! Parts of the API's answers that are not in the models.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use odm::{DateTime, ETag, Public};
use serde::Serialize;

use crate::{
    failure::Answer,
    models::{Article, Author, Comment, User},
    queries::Marks,
};

/// A user's own account: what others see, and the address.
#[derive(Serialize)]
pub(super) struct UserView<'a> {
    #[serde(flatten)]
    author: Public<Author>,
    email: &'a str,
    token: String,
}

impl<'a> UserView<'a> {
    pub(super) fn new(user: &'a User, token: String) -> Self {
        UserView {
            author: Public(Author::from(user)),
            email: &user.email,
            token,
        }
    }
}

#[derive(Serialize)]
pub(super) struct ProfileView {
    #[serde(flatten)]
    pub(super) author: Public<Author>,
    pub(super) following: bool,
}

impl ProfileView {
    pub(super) fn new(author: Author, marks: &Marks) -> Self {
        ProfileView {
            following: marks.contains(author.id.id()),
            author: Public(author),
        }
    }
}

#[derive(Serialize)]
pub(super) struct ArticleView {
    #[serde(flatten)]
    article: Public<Article>,
    /// Absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    favorited: bool,
    author: ProfileView,
}

impl ArticleView {
    pub(super) fn new(article: Article, marks: &Marks) -> Self {
        ArticleView {
            body: article.body.get().map(|body| body.text.clone()),
            favorited: marks.contains(&article.id),
            author: ProfileView::new(article.author.clone(), marks),
            article: Public(article),
        }
    }
}

/// Answers with an article and its `ETag`, or with the `ETag` alone if the client has this version.
pub(super) fn article(
    article: Article,
    marks: &Marks,
    seen: Option<&HeaderValue>,
) -> Answer<Response> {
    let (id, revision) = (article.id, article.revision);
    let article = ArticleView::new(article, marks);
    let tag = ETag::new::<Article>(id, revision, &article)?;
    let header = [(header::ETAG, tag.to_string())];
    if seen.is_some_and(|seen| tag.is_in(seen)) {
        return Ok((StatusCode::NOT_MODIFIED, header).into_response());
    }
    let body = Json(serde_json::json!({ "article": article }));
    Ok((header, body).into_response())
}

#[derive(Serialize)]
pub(super) struct CommentView {
    #[serde(flatten)]
    comment: Public<Comment>,
    /// Comments do not change.
    #[serde(rename = "updatedAt")]
    updated_at: DateTime,
    author: ProfileView,
}

impl CommentView {
    pub(super) fn new(comment: Comment, marks: &Marks) -> Self {
        CommentView {
            updated_at: comment.created_at,
            author: ProfileView::new(comment.author.clone(), marks),
            comment: Public(comment),
        }
    }
}
