//! What the API shows of models.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use odm::{ETag, prelude::*};
use serde::Serialize;

use crate::{
    failure::Answer,
    models::{Article, Author, Comment, Tag, User},
    queries::Marks,
};

#[derive(Serialize)]
pub(super) struct UserView {
    email: String,
    token: String,
    username: String,
    bio: Option<String>,
    image: Option<String>,
}

impl UserView {
    pub(super) fn new(user: User, token: String) -> Self {
        UserView {
            email: user.email,
            token,
            username: user.username,
            bio: user.bio,
            image: user.image,
        }
    }
}

#[derive(Serialize)]
pub(super) struct ProfileView {
    username: String,
    bio: Option<String>,
    image: Option<String>,
    following: bool,
}

impl ProfileView {
    pub(super) fn new(user: User, following: bool) -> Self {
        ProfileView {
            username: user.username,
            bio: user.bio,
            image: user.image,
            following,
        }
    }

    fn of_author(author: Author, marks: &Marks) -> Self {
        ProfileView {
            following: marks.follows(&author.id),
            username: author.username,
            bio: author.bio,
            image: author.image,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArticleView {
    slug: String,
    title: String,
    description: String,
    /// Lists have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    tag_list: Vec<Ref<Tag>>,
    created_at: DateTime,
    updated_at: DateTime,
    favorited: bool,
    favorites_count: i64,
    author: ProfileView,
}

impl ArticleView {
    pub(super) fn new(article: Article, marks: &Marks) -> Self {
        ArticleView {
            favorited: marks.favorited(&article),
            slug: article.slug,
            title: article.title,
            description: article.description,
            body: article.body.into_inner().map(|body| body.text),
            tag_list: article.tags,
            created_at: article.created_at,
            updated_at: article.updated_at,
            favorites_count: article.favorites,
            author: ProfileView::of_author(article.author, marks),
        }
    }
}

/// Answers with one article and its tag, or with the tag alone if the client has that.
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
#[serde(rename_all = "camelCase")]
pub(super) struct CommentView {
    id: i64,
    created_at: DateTime,
    updated_at: DateTime,
    body: String,
    author: ProfileView,
}

impl CommentView {
    pub(super) fn new(comment: Comment, marks: &Marks) -> Self {
        CommentView {
            id: comment.id,
            created_at: comment.created_at,
            updated_at: comment.updated_at,
            body: comment.body,
            author: ProfileView::of_author(comment.author, marks),
        }
    }
}
