//! Lists of articles: all articles, a user's feed, and the lists of a profile.

use axum::{
    extract::State,
    response::{Html, IntoResponse, Redirect, Response},
};
use maud::{Markup, html};
use odm::repository::{Cursor, Page};
use serde::Deserialize;

use super::{ForUser, PageFailure, Parameters, Segments, Shown, Visitor, layout};
use crate::{
    App,
    failure::Failure,
    models::{Article, Author, Tag, User},
    queries::Marks,
    requests::{Listing, Part, Place},
};

/// How many articles a page has.
const PAGE: u64 = 10;

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    q: String,
    #[serde(default)]
    tag: String,
    #[serde(default)]
    feed: bool,
    after: Option<Cursor>,
    before: Option<Cursor>,
}

impl Asked {
    /// The address of this list, before a position.
    fn address(&self, path: &str) -> String {
        let mut address = format!("{path}?");
        for (name, value) in [("q", &self.q), ("tag", &self.tag)] {
            if !value.is_empty() {
                address.push_str(&format!("{name}={}&", layout::segment(value)));
            }
        }
        if self.feed {
            address.push_str("feed=true&");
        }
        address
    }

    fn part(&self) -> Part {
        let place = match (&self.after, &self.before) {
            (Some(position), _) => Place::After(position.clone()),
            (None, Some(position)) => Place::Before(position.clone()),
            (None, None) => Place::First,
        };
        Part { place, limit: PAGE }
    }

    fn listing(&self) -> Listing {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Listing {
            text: given(self.q.trim()),
            tag: given(&self.tag),
            ..Listing::default()
        }
    }
}

/// Reads a page of a list. A cursor of another list leads to the start of this one; following another user makes another list of a feed.
async fn read(
    app: &App,
    user: Option<&User>,
    asked: &Asked,
    listing: &Listing,
    path: &str,
) -> Result<(Page<Article>, Marks), Response> {
    let part = asked.part();
    match app.db.list(user, listing, &part).await {
        Ok(read) => Ok(read),
        Err(failure) if failure.status == 400 && !matches!(part.place, Place::First) => {
            Err(Redirect::to(asked.address(path).trim_end_matches(['?', '&'])).into_response())
        }
        Err(failure) => Err(PageFailure::new(user.cloned(), failure).into_response()),
    }
}

pub(super) async fn home(
    State(app): State<App>,
    Visitor(user): Visitor,
    Parameters(asked): Parameters<Asked>,
) -> Result<Html<String>, Response> {
    let user = user.as_ref();
    let mut listing = asked.listing();
    if asked.feed {
        let Some(user) = user else {
            return Err(Redirect::to("/sign-in").into_response());
        };
        listing.followed_by = Some(user.id);
    }
    let (page, marks) = read(&app, user, &asked, &listing, "/").await?;
    let tags = app.db.popular_tags().await.for_user(user);
    let tags = tags.map_err(IntoResponse::into_response)?;
    let main = html! {
        div.columns {
            section {
                @if user.is_some() {
                    nav.tabs aria-label="Lists" {
                        a href="/" aria-current=[(!asked.feed).then_some("page")] { "All articles" }
                        a href="/?feed=true" aria-current=[asked.feed.then_some("page")] { "Your feed" }
                    }
                }
                h1 { (heading(&asked)) }
                (articles(&page, &marks, &asked.address("/")))
            }
            aside {
                (search(&asked))
                (popular(&tags, &asked.tag))
            }
        }
    };
    Ok(layout::page("Articles", user, Some("/live"), main))
}

fn heading(asked: &Asked) -> Markup {
    html! {
        @if asked.feed { "Your feed" } @else { "Articles" }
        @if !asked.tag.is_empty() { " tagged “" (asked.tag) "”" }
        @if !asked.q.is_empty() { " with “" (asked.q) "”" }
    }
}

fn search(asked: &Asked) -> Markup {
    html! {
        form.search role="search" action="/" {
            label for="q" { "Search titles and descriptions by words" }
            div.line {
                input #q name="q" type="search" value=(asked.q);
                button { "Search" }
            }
            @if !asked.tag.is_empty() { input type="hidden" name="tag" value=(asked.tag); }
            @if asked.feed { input type="hidden" name="feed" value="true"; }
            @if !asked.tag.is_empty() || !asked.q.is_empty() {
                p { a href=(if asked.feed { "/?feed=true" } else { "/" }) { "Show all again" } }
            }
        }
    }
}

fn popular(tags: &[Tag], current: &str) -> Markup {
    html! {
        section #tags data-part {
            h2 { "Popular tags" }
            @if tags.is_empty() { p.hint { "There are none yet." } }
            ul.tags {
                @for tag in tags {
                    li {
                        a href=(layout::tag(&tag.text)) aria-current=[(tag.text == current).then_some("true")] {
                            (tag.text) " " span.number { (tag.articles) }
                        }
                    }
                }
            }
        }
    }
}

/// The articles of a page, with links to the pages before and after it.
fn articles(page: &Page<Article>, marks: &Marks, address: &str) -> Markup {
    html! {
        div #articles data-part {
            @if page.items.is_empty() { p.empty { "There are no articles here." } }
            @for article in &page.items { (card(article, marks)) }
            nav.pages aria-label="Pages" {
                @if let Some(position) = &page.previous {
                    a rel="prev" href={ (address) "before=" (position) } { "← Newer" }
                }
                @if let Some(position) = &page.next {
                    a rel="next" href={ (address) "after=" (position) } { "Older →" }
                }
            }
        }
    }
}

fn card(article: &Article, marks: &Marks) -> Markup {
    let favorite = if marks.contains(&article.id) {
        "★"
    } else {
        "☆"
    };
    html! {
        article.card {
            h2 { a href=(layout::article(&article.slug)) { (article.title) } }
            p { (article.description) }
            p.by {
                (layout::initial(&article.author.username))
                a href=(layout::profile(&article.author.username)) { (article.author.username) }
                " · " (layout::time(article.created_at))
                " · " span title="Favorites" { (favorite) " " (article.favorites) }
                " · " span { (counted(article.comments, "comment")) }
            }
            (layout::tags(article))
        }
    }
}

/// A number of things.
pub(super) fn counted(number: i64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

pub(super) async fn profile(
    State(app): State<App>,
    Visitor(user): Visitor,
    Segments(username): Segments<String>,
    Parameters(asked): Parameters<Asked>,
) -> Result<Html<String>, Response> {
    let user = user.as_ref();
    let shown: Shown<_> = async {
        let shown = app.db.user_named(&username).await.for_user(user)?;
        let author = Author::from(&shown);
        let marks = app.db.marks(user, &[], [&author]).await;
        let follows = marks
            .map_err(Failure::from)
            .for_user(user)?
            .contains(&shown.id);
        Ok((shown, follows))
    }
    .await;
    let (shown, follows) = shown.map_err(IntoResponse::into_response)?;
    let listing = Listing {
        author: Some(shown.username.clone()),
        ..asked.listing()
    };
    let path = layout::profile(&shown.username);
    let (page, marks) = read(&app, user, &asked, &listing, &path).await?;
    let is_own = user.is_some_and(|user| user.id == shown.id);
    let main = html! {
        section.profile #profile data-part {
            h1 { (layout::initial(&shown.username)) (shown.username) }
            @if let Some(bio) = &shown.bio { p { (bio) } }
            p.by {
                (counted(shown.followers, "follower")) " · follows " (shown.following)
            }
            @if is_own {
                p { a href="/settings" { "Change your profile" } }
            } @else if user.is_some() {
                form method="post" action={ (path) "/follow" } {
                    input type="hidden" name="on" value=(!follows);
                    button #follow { @if follows { "Unfollow" } @else { "Follow" } }
                }
            }
        }
        h2 { "Articles" }
        (articles(&page, &marks, &asked.address(&path)))
    };
    Ok(layout::page(&shown.username, user, Some("/live"), main))
}
