//! Comments.

use axum::{Json as Answered, extract::State, http::StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Json, Segments, views::CommentView};
use crate::{
    App,
    auth::{Me, Reader},
    failure::Answer,
    queries::Marks,
};

#[derive(Deserialize)]
pub(super) struct Body {
    comment: NewBody,
}

#[derive(Deserialize)]
struct NewBody {
    body: String,
}

pub(super) async fn list(
    State(app): State<App>,
    Reader(me): Reader,
    Segments(slug): Segments<String>,
) -> Answer<Answered<Value>> {
    let (_, comments, marks) = app.db.discussion(me.as_ref(), &slug).await?;
    let comments = comments.into_iter();
    let comments: Vec<_> = comments
        .map(|comment| CommentView::new(comment, &marks))
        .collect();
    Ok(Answered(json!({ "comments": comments })))
}

pub(super) async fn write(
    State(app): State<App>,
    Me(me): Me,
    Segments(slug): Segments<String>,
    Json(body): Json<Body>,
) -> Answer<Answered<Value>> {
    let comment = app.db.comment(&me, &slug, body.comment.body).await?;
    // No user follows itself, so the author needs no marks.
    let comment = CommentView::new(comment, &Marks::default());
    Ok(Answered(json!({ "comment": comment })))
}

pub(super) async fn remove(
    State(app): State<App>,
    Me(me): Me,
    Segments((slug, id)): Segments<(String, i64)>,
) -> Answer<StatusCode> {
    app.db.delete_comment(&me, &slug, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
