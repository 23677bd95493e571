//! An article with its comments.

use axum::{
    extract::State,
    http::StatusCode,
    response::{Html, IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use odm::prelude::*;
use serde::Deserialize;

use super::{ForUser, Form, Member, PageFailure, Segments, Shown, Visitor, layout, list};
use crate::{
    App,
    failure::Failure,
    models::{Article, Comment, User},
    queries::Marks,
};

pub(super) async fn show(
    State(app): State<App>,
    Visitor(user): Visitor,
    Segments(slug): Segments<String>,
) -> Shown<Html<String>> {
    page(&app, user.as_ref(), &slug, "", None).await
}

/// The page, with a comment that was refused, and the failure.
async fn page(
    app: &App,
    user: Option<&User>,
    slug: &str,
    draft: &str,
    failure: Option<&Failure>,
) -> Shown<Html<String>> {
    let read = app.db.discussion(user, slug).await;
    let (article, comments, marks) = read.for_user(user)?;
    let path = layout::article(&article.slug);
    let main = html! {
        (text(&article, user, &marks))
        section aria-labelledby="comments-title" {
            h2 #comments-title { "Comments" }
            div #comments data-part {
                @if comments.is_empty() { p.empty { "There are none yet." } }
                @for comment in &comments { (shown(comment, user, &path)) }
            }
            @match user {
                // To the address of the page, which contains the slug of the article.
                Some(_) => form method="post" {
                    @if let Some(failure) = failure { (layout::failed(failure)) }
                    (layout::area("body", "Your comment", 3, draft))
                    button { "Send" }
                },
                None => p { a href="/sign-in" { "Sign in" } " to comment." },
            }
        }
    };
    let live = format!("/live/{}", article.id);
    Ok(layout::page(&article.title, user, Some(&live), main))
}

fn text(article: &Article, user: Option<&User>, marks: &Marks) -> Markup {
    let path = layout::article(&article.slug);
    let is_own = user.is_some_and(|user| article.author.id == Ref::from(user));
    let body = article.body.get().map_or("", |body| &body.text);
    let favorited = marks.contains(&article.id);
    html! {
        article.whole #article data-part {
            h1 { (article.title) }
            p.by {
                (layout::initial(&article.author.username))
                a href=(layout::profile(&article.author.username)) { (article.author.username) }
                " · " (layout::time(article.created_at))
                @if article.updated_at != article.created_at {
                    " · changed " (layout::time(article.updated_at))
                }
            }
            p.lead { (article.description) }
            div.body {
                @for paragraph in body.replace("\r\n", "\n").split("\n\n") {
                    p { (paragraph) }
                }
            }
            (layout::tags(article))
            div.actions {
                @match user {
                    Some(_) => form method="post" action={ (path) "/favorite" } {
                        input type="hidden" name="on" value=(!favorited);
                        button #favorite aria-pressed=(favorited) {
                            @if favorited { "★" } @else { "☆" }
                            " Favorite " span.number { (article.favorites) }
                        }
                    },
                    None => span { "☆ " (list::counted(article.favorites, "favorite")) },
                }
                @if is_own {
                    a.button href={ "/editor/" (layout::segment(&article.slug)) } { "Edit" }
                    form method="post" action={ (path) "/delete" } {
                        button.danger #delete { "Delete" }
                    }
                }
            }
        }
    }
}

fn shown(comment: &Comment, user: Option<&User>, path: &str) -> Markup {
    let is_own = user.is_some_and(|user| comment.author.id == Ref::from(user));
    html! {
        article.comment #(format!("comment-{}", comment.id)) {
            p.body { (comment.body) }
            div.by {
                (layout::initial(&comment.author.username))
                a href=(layout::profile(&comment.author.username)) { (comment.author.username) }
                " · " (layout::time(comment.created_at))
                @if is_own {
                    form method="post" action={ (path) "/comments/" (comment.id) "/delete" } {
                        button.plain aria-label={ "Delete your comment of " (comment.created_at) } { "Delete" }
                    }
                }
            }
        }
    }
}

/// A mark that is set or removed, so that a form sent twice has the effect of one.
#[derive(Debug, Deserialize)]
pub(super) struct Mark {
    pub(super) on: bool,
}

pub(super) async fn favorite(
    State(app): State<App>,
    Member(user): Member,
    Segments(slug): Segments<String>,
    Form(mark): Form<Mark>,
) -> Shown<Redirect> {
    let marked = app.db.favorite(&user, &slug, mark.on).await;
    let article = marked.for_user(Some(&user))?;
    Ok(Redirect::to(&layout::article(&article.slug)))
}

pub(super) async fn remove(
    State(app): State<App>,
    Member(user): Member,
    Segments(slug): Segments<String>,
) -> Shown<Redirect> {
    let own = app.db.own_article(&user, &slug).await;
    let own = own.for_user(Some(&user))?;
    let removed = app.db.articles.delete(&own).await;
    removed.for_user(Some(&user))?;
    Ok(Redirect::to("/"))
}

#[derive(Debug, Deserialize)]
pub(super) struct NewComment {
    body: String,
}

pub(super) async fn comment(
    State(app): State<App>,
    Member(user): Member,
    Segments(slug): Segments<String>,
    Form(comment): Form<NewComment>,
) -> Shown<Response> {
    // Browsers send line breaks as two characters.
    let body = comment.body.replace("\r\n", "\n");
    let written = app.db.comment(&user, &slug, body).await;
    match written {
        Ok(written) => {
            let place = format!("{}#comment-{}", layout::article(&slug), written.id);
            Ok(Redirect::to(&place).into_response())
        }
        Err(failure) if failure.status == StatusCode::UNPROCESSABLE_ENTITY => {
            let page = page(&app, Some(&user), &slug, &comment.body, Some(&failure));
            Ok((failure.status, page.await?).into_response())
        }
        Err(failure) => Err(PageFailure::new(Some(user), failure)),
    }
}

pub(super) async fn remove_comment(
    State(app): State<App>,
    Member(user): Member,
    Segments((slug, id)): Segments<(String, i64)>,
) -> Shown<Redirect> {
    let removed = app.db.delete_comment(&user, &slug, id).await;
    removed.for_user(Some(&user))?;
    Ok(Redirect::to(&layout::article(&slug)))
}
