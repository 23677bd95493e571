//! Streams of server-sent events: that what a page shows has changed, and where it is now.

use std::convert::Infallible;

use axum::{
    extract::State,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::{Stream, StreamExt};
use odm::{ErrorKind, prelude::*, repository::ChangeEvent};
use serde::Deserialize;

use super::{Parameters, Segments, Shown, layout};
use crate::{App, failure::Failure, models::Article};

/// Tells of each commit that changes an article.
pub(super) async fn lists(State(app): State<App>) -> Shown<Response> {
    let changes = app.db.articles.watch(Filter::all());
    let changes = changes.await.map_err(Failure::from)?;
    Ok(events(&app, changes, |_| {
        Some(Event::default().event("changed").data(""))
    }))
}

#[derive(Debug, Deserialize)]
pub(super) struct Options {
    /// Whether the reader changes the article itself: it is told of other changes of its text alone.
    #[serde(default)]
    editing: bool,
}

/// Tells of the changes of an article, its comments and favorites, which it counts: with its address, or without one when
/// it is gone.
pub(super) async fn article(
    State(app): State<App>,
    Segments(slug): Segments<String>,
    Parameters(options): Parameters<Options>,
) -> Shown<Response> {
    let article = app.db.article(&slug).await?;
    let changes = app.db.articles.watch(Article::fields().id.eq(article.id));
    let changes = changes.await.map_err(Failure::from)?;
    Ok(events(&app, changes, move |change| {
        let revision = |article: &Option<Article>| article.as_ref().map(|article| article.revision);
        if options.editing && revision(&change.before) == revision(&change.after) {
            return None;
        }
        let place = change.after.map(|article| layout::article(&article.slug));
        Some(match place {
            Some(place) => Event::default().event("changed").data(place),
            None => Event::default().event("gone").data(""),
        })
    }))
}

/// The events of changes, until the service stops.
fn events(
    app: &App,
    changes: impl Stream<Item = odm::Result<ChangeEvent<Article>>> + Send + 'static,
    event: impl Fn(ChangeEvent<Article>) -> Option<Event> + Send + 'static,
) -> Response {
    let mut stopping = app.stopping.clone();
    // The sender is dropped when the service stops.
    let stopped = async move { while stopping.changed().await.is_ok() {} };
    let events = changes.filter_map(move |change| {
        let event = match change {
            Ok(change) => event(change),
            // What was missed is as well a reason to look again.
            Err(error) if error.kind() == ErrorKind::Lagged => {
                Some(Event::default().event("changed").data(""))
            }
            Err(error) => {
                tracing::error!(%error, "a change cannot be read");
                None
            }
        };
        std::future::ready(event.map(Ok::<_, Infallible>))
    });
    let events = events.take_until(Box::pin(stopped));
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}
