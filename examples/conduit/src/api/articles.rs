//! Articles, their lists, favorites and tags.

use axum::{
    Json as Answered,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use odm::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Json, Parameters, Segments,
    views::{self, ArticleView},
};
use crate::{
    App,
    auth::{Me, Reader},
    failure::{Answer, Failure},
    models::{Article, ArticlePatch, Tag, User},
    queries::{ArticleUpdate, Draft, Listing, Slice},
};

/// The default length of a list of articles, and the largest.
const LIMIT: (u64, u64) = (20, 100);

#[derive(Deserialize)]
pub(super) struct Body<T> {
    article: T,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewBody {
    title: String,
    description: String,
    body: String,
    #[serde(default)]
    tag_list: Vec<Ref<Tag>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ListQuery {
    tag: Option<String>,
    author: Option<String>,
    favorited: Option<String>,
    limit: Option<u64>,
    #[serde(default)]
    offset: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct FeedQuery {
    limit: Option<u64>,
    #[serde(default)]
    offset: u64,
}

fn slice(limit: Option<u64>, offset: u64) -> Answer<Slice> {
    let (default, most) = LIMIT;
    let limit = limit.unwrap_or(default);
    match limit {
        1.. if limit <= most => Ok(Slice { offset, limit }),
        _ => Err(Failure::invalid(format!("limit must be 1 to {most}"))),
    }
}

pub(super) async fn list(
    State(app): State<App>,
    Reader(me): Reader,
    Parameters(query): Parameters<ListQuery>,
) -> Answer<Answered<Value>> {
    let slice = slice(query.limit, query.offset)?;
    let listing = Listing {
        tag: query.tag,
        author: query.author,
        favorited: query.favorited,
        ..Listing::default()
    };
    articles(&app, me.as_ref(), &listing, slice).await
}

pub(super) async fn feed(
    State(app): State<App>,
    Me(me): Me,
    Parameters(query): Parameters<FeedQuery>,
) -> Answer<Answered<Value>> {
    let slice = slice(query.limit, query.offset)?;
    let listing = Listing {
        followed_by: Some(me.id),
        ..Listing::default()
    };
    articles(&app, Some(&me), &listing, slice).await
}

async fn articles(
    app: &App,
    me: Option<&User>,
    listing: &Listing,
    slice: Slice,
) -> Answer<Answered<Value>> {
    let (page, marks) = app.db.slice(me, listing, slice).await?;
    let articles = page.items.into_iter();
    let articles: Vec<_> = articles
        .map(|article| ArticleView::new(article, &marks))
        .collect();
    Ok(Answered(
        json!({ "articles": articles, "articlesCount": page.total }),
    ))
}

async fn marked(app: &App, me: Option<&User>, article: Article) -> Answer<Response> {
    marked_unless(app, me, article, None).await
}

async fn marked_unless(
    app: &App,
    me: Option<&User>,
    article: Article,
    seen: Option<&HeaderValue>,
) -> Answer<Response> {
    let shown = std::slice::from_ref(&article);
    let marks = app.db.marks_of(me, shown).await?;
    views::article(article, &marks, seen)
}

pub(super) async fn show(
    State(app): State<App>,
    Reader(me): Reader,
    Segments(slug): Segments<String>,
    headers: HeaderMap,
) -> Answer<Response> {
    let article = app.db.article(&slug).await?;
    let seen = headers.get(header::IF_NONE_MATCH);
    marked_unless(&app, me.as_ref(), article, seen).await
}

pub(super) async fn publish(
    State(app): State<App>,
    Me(me): Me,
    Json(body): Json<Body<NewBody>>,
) -> Answer<(StatusCode, Response)> {
    let NewBody {
        title,
        description,
        body,
        tag_list: tags,
    } = body.article;
    let draft = Draft {
        title,
        description,
        body,
        tags,
    };
    let article = app.db.publish(&me, draft).await?;
    Ok((StatusCode::CREATED, marked(&app, Some(&me), article).await?))
}

pub(super) async fn edit(
    State(app): State<App>,
    Me(me): Me,
    Segments(slug): Segments<String>,
    headers: HeaderMap,
    Json(body): Json<Body<ArticlePatch>>,
) -> Answer<Response> {
    let unless_changed = |update: ArticleUpdate| match headers.get(header::IF_MATCH) {
        Some(seen) => update.if_match(seen),
        None => update,
    };
    let edited = app.db.edit(&me, &slug, body.article, unless_changed);
    let article = edited.await?;
    marked(&app, Some(&me), article).await
}

pub(super) async fn remove(
    State(app): State<App>,
    Me(me): Me,
    Segments(slug): Segments<String>,
) -> Answer<StatusCode> {
    app.db.delete_article(&me, &slug).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn favorite(
    State(app): State<App>,
    Me(me): Me,
    Segments(slug): Segments<String>,
) -> Answer<Response> {
    let article = app.db.favorite(&me, &slug).await?;
    marked(&app, Some(&me), article).await
}

pub(super) async fn unfavorite(
    State(app): State<App>,
    Me(me): Me,
    Segments(slug): Segments<String>,
) -> Answer<Response> {
    let article = app.db.unfavorite(&me, &slug).await?;
    marked(&app, Some(&me), article).await
}

pub(super) async fn tags(State(app): State<App>) -> Answer<Answered<Value>> {
    let tags = app.db.popular_tags().await?;
    let tags: Vec<_> = tags.into_iter().map(|tag| tag.text).collect();
    Ok(Answered(json!({ "tags": tags })))
}
