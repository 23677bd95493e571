//! Articles, their lists, favorites and tags.

use axum::{
    Json as Answered,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
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
    models::{Article, User},
    requests::{ArticlePatch, Draft, Listing, Part, Place},
};

/// The default length of a list of articles, and the largest.
const LIMIT: (u64, u64) = (20, 100);

#[derive(Deserialize)]
pub(super) struct Body<T> {
    article: T,
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

fn slice(limit: Option<u64>, offset: u64) -> Answer<Part> {
    let (default, most) = LIMIT;
    let limit = limit.unwrap_or(default);
    match limit {
        1.. if limit <= most => Ok(Part {
            place: Place::Offset(offset),
            limit,
        }),
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
    slice: Part,
) -> Answer<Answered<Value>> {
    let (page, marks) = app.db.list(me, listing, &slice).await?;
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
    let marks = app.db.marks(me, shown, [&article.author]).await?;
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
    Json(body): Json<Body<Draft>>,
) -> Answer<(StatusCode, Response)> {
    let article = app.db.publish(body.article.by(&me)).await?;
    Ok((StatusCode::CREATED, marked(&app, Some(&me), article).await?))
}

pub(super) async fn edit(
    State(app): State<App>,
    Me(me): Me,
    Segments(slug): Segments<String>,
    headers: HeaderMap,
    Json(body): Json<Body<ArticlePatch>>,
) -> Answer<Response> {
    let own = app.db.own_article(&me, &slug).await?;
    let mut update = app.db.articles.update(&own);
    if let Some(seen) = headers.get(header::IF_MATCH) {
        update = update.if_match(seen);
    }
    let article = app.db.edit(update, body.article).await?;
    marked(&app, Some(&me), article).await
}

pub(super) async fn remove(
    State(app): State<App>,
    Me(me): Me,
    Segments(slug): Segments<String>,
) -> Answer<StatusCode> {
    let own = app.db.own_article(&me, &slug).await?;
    app.db.articles.delete(&own).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn favorite(
    State(app): State<App>,
    Me(me): Me,
    Segments(slug): Segments<String>,
) -> Answer<Response> {
    let article = app.db.favorite(&me, &slug, true).await?;
    marked(&app, Some(&me), article).await
}

pub(super) async fn unfavorite(
    State(app): State<App>,
    Me(me): Me,
    Segments(slug): Segments<String>,
) -> Answer<Response> {
    let article = app.db.favorite(&me, &slug, false).await?;
    marked(&app, Some(&me), article).await
}

pub(super) async fn tags(State(app): State<App>) -> Answer<Answered<Value>> {
    let tags = app.db.popular_tags().await?;
    let tags: Vec<_> = tags.into_iter().map(|tag| tag.text).collect();
    Ok(Answered(json!({ "tags": tags })))
}
