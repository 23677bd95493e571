//! Watches of collections.

use std::{
    collections::BTreeSet,
    task::{Context, Poll, ready},
};

use bson::Document;
use futures_core::stream::BoxStream;
use futures_util::stream::StreamExt;
use odm_mql::{Filter, Projection, Sort};
use odm_store::{
    Cause, DocumentChange, Error, ErrorKind, Result, ResumeToken, StoreWatch, WatchRequest,
    WatchedChange,
};

use super::{Session, guard::refuse_inside_transaction};
use crate::catalog::{Catalog, Edge, OnDelete};

/// The changes of a collection whose documents match a filter, before or after.
pub(crate) struct MatchingChanges {
    collection: String,
    filter: Filter,
    changes: BoxStream<'static, Result<WatchedChange>>,
    /// The place after the last change that was taken, or else the start.
    pub(crate) token: ResumeToken,
}

impl MatchingChanges {
    pub(crate) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<DocumentChange>>> {
        loop {
            match ready!(self.changes.as_mut().poll_next(cx)) {
                Some(Ok(WatchedChange { change, token, .. })) => {
                    self.token = token;
                    let Some(change) = change else { continue };
                    match self.matches(&change) {
                        Ok(true) => return Poll::Ready(Some(Ok(change))),
                        Ok(false) => {}
                        Err(error) => return Poll::Ready(Some(Err(error))),
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }

    fn matches(&self, change: &DocumentChange) -> Result<bool> {
        for image in [&change.before, &change.after].into_iter().flatten() {
            let matches = self.filter.matches(image);
            let failed = |error| Error::failed_filter(&self.collection, change.id(), error);
            if matches.map_err(failed)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Session {
    /// Receives the changes of a collection whose documents match a filter, from now on, or after a token.
    pub(crate) async fn watch_matching(&self, request: WatchRequest) -> Result<MatchingChanges> {
        let (collection, filter) = (request.collection.clone(), request.filter.clone());
        let StoreWatch { token, changes, .. } = self.watch(request).await?;
        Ok(MatchingChanges {
            collection,
            filter,
            changes,
            token,
        })
    }

    /// Receives all changes of a collection from now on, or after a token. Waits for the writes that are under way.
    async fn watch(&self, request: WatchRequest) -> Result<StoreWatch> {
        let collection = &request.collection;
        let refused = |kind, why: &str| {
            let message = format!("watch of `{collection}` refused: {why}");
            Err(Error::new(kind, message))
        };
        if self.has_own_state() || refuse_inside_transaction(&*self.store).is_err() {
            return refused(
                ErrorKind::OutsideTransaction,
                "it shows what others commit, for which a transaction or a snapshot would wait in vain; watch \
                 through the database outside of its closure",
            );
        }
        let catalog = self.catalog();
        let split = catalog.split_of_query(collection, &request.filter, &Sort::default())?;
        if split.is_some() {
            return refused(
                ErrorKind::InvalidQuery,
                "its filter names a field of a cold part, which changes are shown without; filter by fields of \
                 the document itself",
            );
        }
        if !(1..=MAX_BUFFER).contains(&request.buffer) {
            let buffer = request.buffer;
            let why = format!("a buffer has 1 to {MAX_BUFFER} commits, not {buffer}");
            return refused(ErrorKind::InvalidQuery, &why);
        }
        let causes = Causes::new(&catalog, collection)?;
        let StoreWatch { token, changes, .. } = self.store.watch(&request).await?;
        let changes = changes.map(move |step| {
            let mut step = step?;
            if let Some(change) = &mut step.change
                && change.cause == Cause::Unknown
            {
                change.cause = causes.of(change)?;
            }
            Ok(step)
        });
        Ok(StoreWatch::new(token, changes.boxed()))
    }
}

/// The greatest number of commits that a watch keeps.
const MAX_BUFFER: usize = 1 << 20;

/// Finds the cause of a change as far as the change itself tells.
struct Causes {
    /// The document without computed fields.
    without_computed: Projection,
    /// The same without the references that a relation can change, too.
    without_references: Projection,
    /// Whether the delete of another document can delete one of the collection.
    cascades: bool,
}

impl Causes {
    fn new(catalog: &Catalog, collection: &str) -> Result<Self> {
        let derived = catalog.derived_in(collection);
        let mut paths: BTreeSet<String> = derived.map(|field| field.path().into_owned()).collect();
        let recorded = catalog.write_fields(collection);
        let recorded = recorded.into_iter().flat_map(|fields| fields.changing());
        paths.extend(recorded.map(str::to_owned));
        let without_computed = without(&paths)?;
        let edges = || catalog.edges_from(collection);
        let is_changed = |edge: &&Edge| {
            edge.inverse.is_some() || matches!(edge.on_delete, OnDelete::Nullify | OnDelete::Pull)
        };
        // If a reference is in an element of a list, the whole element can be removed.
        let changed = edges().filter(is_changed);
        paths.extend(changed.map(|edge| edge.list.as_ref().unwrap_or(&edge.path).clone()));
        Ok(Causes {
            without_computed,
            without_references: without(&paths)?,
            cascades: edges().any(|edge| edge.on_delete == OnDelete::Cascade),
        })
    }

    fn of(&self, change: &DocumentChange) -> Result<Cause> {
        let (before, after) = match (&change.before, &change.after) {
            (Some(before), Some(after)) => (before, after),
            (Some(_), None) if self.cascades => return Ok(Cause::Unknown),
            _ => return Ok(Cause::Write),
        };
        let is_same = |projection: &Projection| -> Result<bool> {
            Ok(projection.apply(before)? == projection.apply(after)?)
        };
        Ok(if is_same(&self.without_computed)? {
            Cause::Relation
        } else if is_same(&self.without_references)? {
            Cause::Unknown
        } else {
            Cause::Write
        })
    }
}

/// All fields except the ones at some paths.
fn without(paths: &BTreeSet<String>) -> Result<Projection> {
    let is_within_other = |path: &str| {
        let mut outer = path.match_indices('.').map(|(end, _)| &path[..end]);
        outer.any(|outer| paths.contains(outer))
    };
    let paths = paths.iter().filter(|path| !is_within_other(path));
    let excluded: Document = paths.map(|path| (path.clone(), 0.into())).collect();
    Ok(Projection::parse(&excluded)?)
}
