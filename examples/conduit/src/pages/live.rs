//! Streams of server-sent events: the data of a page has changed, and the new address of the page.

use std::{convert::Infallible, future::ready};

use axum::{
    extract::State,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::{Stream, StreamExt, stream::iter};
use odm::{ErrorKind, prelude::*, repository::ChangeEvent};
use serde::Deserialize;

use super::{Parameters, Segments, Shown, layout};
use crate::{App, failure::Failure, models::Article};

/// The data of an event without an address. Browsers ignore events without data.
const SOMETHING: &str = "something";

/// Sends an event for each commit that changes an article.
pub(super) async fn lists(State(app): State<App>) -> Shown<Response> {
    let changes = app.db.articles.watch(Filter::all());
    let changes = changes.await.map_err(Failure::from)?;
    Ok(events(&app, Some(changed(SOMETHING)), changes, |_| {
        Some(changed(SOMETHING))
    }))
}

#[derive(Debug, Deserialize)]
pub(super) struct Options {
    /// The revision that the reader is changing: events are about other revisions alone.
    editing: Option<i64>,
}

/// Sends the address of an article at each change of it, of its comments or of its favorites, which it counts, or tells that it is gone.
pub(super) async fn article(
    State(app): State<App>,
    Segments(id): Segments<ObjectId>,
    Parameters(options): Parameters<Options>,
) -> Shown<Response> {
    let event = move |article: Option<Article>| match article {
        None => Some(Event::default().event("gone").data("gone")),
        Some(article) if options.editing == Some(article.revision) => None,
        Some(article) => Some(changed(&layout::article(&article.slug))),
    };
    let changes = app.db.articles.watch(Article::fields().id.eq(id));
    let changes = changes.await.map_err(Failure::from)?;
    let now = app.db.articles.get(id).optional().await;
    let now = event(now.map_err(Failure::from)?);
    Ok(events(&app, now, changes, move |change| {
        event(change.after)
    }))
}

fn changed(place: &str) -> Event {
    Event::default().event("changed").data(place)
}

/// The events of changes, until the service stops. The first one is about changes before the watch began, since the page was made or the
/// stream was broken.
fn events(
    app: &App,
    first: Option<Event>,
    changes: impl Stream<Item = odm::Result<ChangeEvent<Article>>> + Send + 'static,
    event: impl Fn(ChangeEvent<Article>) -> Option<Event> + Send + 'static,
) -> Response {
    let mut stopping = app.stopping.clone();
    // The sender is dropped when the service stops.
    let stopped = async move { while stopping.changed().await.is_ok() {} };
    let events = changes.filter_map(move |change| {
        ready(match change {
            Ok(change) => event(change),
            // Missed changes are a reason to look again as well.
            Err(error) if error.kind() == ErrorKind::Lagged => Some(changed(SOMETHING)),
            Err(error) => {
                tracing::error!(%error, "a change cannot be read");
                None
            }
        })
    });
    let events = iter(first).chain(events).map(Ok::<_, Infallible>);
    let events = events.take_until(Box::pin(stopped));
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}
