//! Writing and changing articles.

use axum::{
    extract::State,
    http::StatusCode,
    response::{Html, IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use odm::prelude::*;
use serde::Deserialize;

use super::{ForUser, Form, Member, PageFailure, Segments, Shown, layout};
use crate::{
    App,
    failure::Failure,
    models::{Article, Tag, User},
    requests::{ArticlePatch, Draft},
};

/// The fields of the form.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Text {
    title: String,
    description: String,
    body: String,
    /// Separated by commas.
    tags: String,
    /// The revision of the article that the user has read.
    #[serde(default)]
    revision: i64,
}

impl Text {
    fn of(article: &Article) -> Self {
        let tags = article.tags.iter().map(|tag| tag.id().as_str());
        Text {
            title: article.title.clone(),
            description: article.description.clone(),
            body: article
                .body
                .get()
                .map(|body| body.text.clone())
                .unwrap_or_default(),
            tags: tags.collect::<Vec<_>>().join(", "),
            revision: article.revision,
        }
    }

    fn tags(&self) -> Vec<Ref<Tag>> {
        let tags = self.tags.split(',').map(str::trim);
        let tags = tags.filter(|tag| !tag.is_empty());
        tags.map(|tag| Ref::new(tag.to_owned())).collect()
    }

    /// The body with line feeds alone: browsers send a carriage return before each.
    fn body(&self) -> String {
        self.body.replace("\r\n", "\n")
    }
}

fn form(text: &Text, failure: Option<&Failure>) -> Markup {
    html! {
        form.editor method="post" {
            @if let Some(failure) = failure { (layout::failed(failure)) }
            (layout::field("title", "Title", "text", &text.title, ""))
            (layout::field("description", "What it is about", "text", &text.description, ""))
            (layout::area("body", "Text", 14, &text.body))
            (layout::field("tags", "Tags", "text", &text.tags, "With commas between them, ten at most."))
            input type="hidden" name="revision" value=(text.revision);
            button { "Save" }
        }
    }
}

fn new(user: &User, text: &Text, failure: Option<&Failure>) -> Html<String> {
    let main = html! {
        h1 { "New article" }
        (form(text, failure))
    };
    layout::page("New article", Some(user), None, main)
}

pub(super) async fn empty(Member(user): Member) -> Html<String> {
    new(&user, &Text::default(), None)
}

pub(super) async fn publish(
    State(app): State<App>,
    Member(user): Member,
    Form(text): Form<Text>,
) -> Shown<Response> {
    let draft = Draft {
        title: text.title.clone(),
        description: text.description.clone(),
        body: text.body(),
        tags: text.tags(),
    };
    match app.db.publish(draft.by(&user)).await {
        Ok(article) => Ok(Redirect::to(&layout::article(&article.slug)).into_response()),
        Err(failure) if failure.status == StatusCode::UNPROCESSABLE_ENTITY => {
            Ok((failure.status, new(&user, &text, Some(&failure))).into_response())
        }
        Err(failure) => Err(PageFailure::new(Some(user), failure)),
    }
}

/// The page for a change of an article, with `before` above the form.
fn changed(user: &User, article: &Article, before: Markup, form: Markup) -> Html<String> {
    let main = html! {
        h1 { "Edit “" (article.title) "”" }
        div.compare {
            (before)
            (form)
        }
    };
    let live = format!("/live/{}?editing={}", article.id, article.revision);
    layout::page("Edit", Some(user), Some(&live), main)
}

pub(super) async fn filled(
    State(app): State<App>,
    Member(user): Member,
    Segments(slug): Segments<String>,
) -> Shown<Html<String>> {
    let article = app
        .db
        .own_article(&user, &slug)
        .await
        .for_user(Some(&user))?;
    let form = form(&Text::of(&article), None);
    Ok(changed(&user, &article, html! {}, form))
}

pub(super) async fn save(
    State(app): State<App>,
    Member(user): Member,
    Segments(slug): Segments<String>,
    Form(text): Form<Text>,
) -> Shown<Response> {
    let patch = ArticlePatch {
        title: Some(text.title.clone()),
        slug: None,
        description: Some(text.description.clone()),
        body: Some(text.body()),
        tags: Some(text.tags()),
    };
    let own = app.db.own_article(&user, &slug).await;
    let own = own.for_user(Some(&user))?;
    let update = app.db.articles.update(&own).if_version(text.revision);
    let failure = match app.db.edit(update, patch).await {
        Ok(article) => return Ok(Redirect::to(&layout::article(&article.slug)).into_response()),
        Err(failure) => failure,
    };
    let page = match failure.status {
        StatusCode::UNPROCESSABLE_ENTITY => {
            let article = app
                .db
                .own_article(&user, &slug)
                .await
                .for_user(Some(&user))?;
            changed(&user, &article, html! {}, form(&text, Some(&failure)))
        }
        StatusCode::PRECONDITION_FAILED => {
            let article = app
                .db
                .own_article(&user, &slug)
                .await
                .for_user(Some(&user))?;
            let revision = article.revision;
            let form = form(&Text { revision, ..text }, None);
            changed(&user, &article, conflict(&article), form)
        }
        _ => return Err(PageFailure::new(Some(user), failure)),
    };
    Ok((failure.status, page).into_response())
}

/// The stored version, beside the user's own text.
fn conflict(article: &Article) -> Markup {
    let stored = Text::of(article);
    html! {
        section.conflict #conflict role="alert" {
            h2 { "The article has been changed meanwhile" }
            p {
                "Nothing of yours is lost: your text is in the form. This is what was saved on "
                (layout::time(article.updated_at))
                ". Take over what you want to keep of it, and save again: your text takes its place."
            }
            dl {
                dt { "Title" } dd { (stored.title) }
                dt { "What it is about" } dd { (stored.description) }
                dt { "Text" } dd.body { (stored.body) }
                dt { "Tags" } dd { (stored.tags) }
            }
        }
    }
}
