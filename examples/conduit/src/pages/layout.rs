//! The common parts of pages.

use axum::response::Html;
use maud::{DOCTYPE, Markup, html};
use odm::DateTime;

use super::shown;
use crate::{
    failure::Failure,
    models::{Article, User},
};

/// A whole page. Its script follows the events of the stream `live`.
pub(super) fn page(
    title: &str,
    user: Option<&User>,
    live: Option<&str>,
    main: Markup,
) -> Html<String> {
    shown(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – Conduit" }
                link rel="icon" href="/icon.svg";
                link rel="stylesheet" href="/style.css";
                script src="/live.js" defer {}
            }
            body data-live=[live] {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.name href="/" { "Conduit" }
                    nav aria-label="Site" {
                        @match user {
                            Some(user) => {
                                a href="/editor" { "New article" }
                                a href="/settings" { "Settings" }
                                a href=(profile(&user.username)) { (user.username) }
                                form method="post" action="/sign-out" {
                                    button.plain { "Sign out" }
                                }
                            }
                            None => {
                                a href="/sign-in" { "Sign in" }
                                a href="/sign-up" { "Sign up" }
                            }
                        }
                    }
                }
                p #notice role="status" {}
                main #main tabindex="-1" { (main) }
            }
        }
    })
}

/// A segment of an address.
pub(super) fn segment(text: &str) -> String {
    let mut segment = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                segment.push(byte.into());
            }
            _ => segment.push_str(&format!("%{byte:02X}")),
        }
    }
    segment
}

/// The address of a profile.
pub(super) fn profile(username: &str) -> String {
    format!("/profile/{}", segment(username))
}

/// The address of an article.
pub(super) fn article(slug: &str) -> String {
    format!("/article/{}", segment(slug))
}

/// The address of the list of a tag.
pub(super) fn tag(text: &str) -> String {
    format!("/?tag={}", segment(text))
}

/// A time, to the minute.
pub(super) fn time(time: DateTime) -> Markup {
    let date = chrono::DateTime::from_timestamp_millis(time.timestamp_millis());
    html! {
        time datetime=(time) {
            @if let Some(date) = date { (date.format("%-d %b %Y, %H:%M UTC")) }
        }
    }
}

/// The first letter of a name, in the place of an image: the images of users are elsewhere, and are not loaded.
pub(super) fn initial(username: &str) -> Markup {
    let letter: String = username
        .chars()
        .take(1)
        .flat_map(char::to_uppercase)
        .collect();
    html! { span.initial aria-hidden="true" { (letter) } }
}

/// The messages of a failure.
pub(super) fn failed(failure: &Failure) -> Markup {
    html! {
        ul.failed role="alert" {
            @for message in &failure.messages { li { (message) } }
        }
    }
}

/// The tags of an article, as links.
pub(super) fn tags(article: &Article) -> Markup {
    html! {
        @if !article.tags.is_empty() {
            ul.tags aria-label="Tags" {
                @for text in &article.tags {
                    li { a href=(tag(text.id())) { (text.id()) } }
                }
            }
        }
    }
}

/// A field of a form with its label.
pub(super) fn field(name: &str, label: &str, kind: &str, value: &str, hint: &str) -> Markup {
    let complete = match name {
        "email" => "email",
        "username" => "username",
        "password" => "current-password",
        "new-password" => "new-password",
        _ => "off",
    };
    html! {
        div.field {
            label for=(name) { (label) }
            input #(name) name=(name) type=(kind) value=(value) autocomplete=(complete)
                aria-describedby=[(!hint.is_empty()).then(|| format!("{name}-hint"))];
            @if !hint.is_empty() { p.hint #(format!("{name}-hint")) { (hint) } }
        }
    }
}

/// A field of several lines with its label.
pub(super) fn area(name: &str, label: &str, rows: u8, value: &str) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            // A first line break after the tag is not part of the text.
            textarea #(name) name=(name) rows=(rows) { "\n" (value) }
        }
    }
}
