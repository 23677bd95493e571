//! The deletion of expired documents: of models with `#[document(expires(..))]`.

use std::{sync::Arc, time::Duration};

use bson::{RawBson, RawDocument};
use odm_mql::{Direction, Filter, Projection, Sort, Test};
use odm_store::{Error, ErrorKind, Find, ReaderExt, Result, mutants::mutant};

use super::outbox::LEAST;
use crate::{
    maintain::{Write, WriteTarget},
    model::{DateTime, Expires, Model},
    session::{Session, Worker},
};

/// How many documents a unit deletes.
const UNIT: u64 = 100;

/// How many undeletable documents a pass names.
const MOST_NAMED: u64 = 100;

/// The models whose documents expire.
fn expiring(models: &[&'static Model]) -> Vec<(&'static str, Expires)> {
    let expiring = models.iter();
    let expiring = expiring.filter_map(|model| Some((model.collection, model.expires?)));
    expiring.collect()
}

/// Starts the worker that deletes expired documents, at once and then at each interval, until the session is dropped or the store is
/// closed. It starts none if no model expires.
pub(super) fn start(
    session: &Session,
    models: &[&'static Model],
    interval: Duration,
) -> Option<Worker> {
    let expiring = expiring(models);
    if expiring.is_empty() {
        return None;
    }
    let database = session.database();
    if tokio::runtime::Handle::try_current().is_err() {
        tracing::warn!(
            target: "odm", database,
            "expiry: the database was not opened in a runtime of tokio, so that the worker begins when it is used in one"
        );
    }
    let interval = interval.max(LEAST);
    let (session, expiring) = (Arc::new(session.downgrade()), Arc::new(expiring));
    Some(Worker::new("expiry", database, move || {
        work(session.clone(), expiring.clone(), interval)
    }))
}

async fn work(
    session: Arc<impl Fn() -> Option<Session>>,
    expiring: Arc<Vec<(&'static str, Expires)>>,
    interval: Duration,
) {
    loop {
        {
            let Some(session) = session() else { return };
            match delete(&session, &expiring).await {
                Err(error) if error.kind() == ErrorKind::Closed => return,
                Err(error) => {
                    tracing::warn!(target: "odm", %error, "expired documents were not deleted");
                }
                Ok(_) => {}
            }
        }
        tokio::time::sleep(interval).await;
    }
}

/// Deletes expired documents, and returns their number.
pub(super) async fn delete_expired(session: &Session, models: &[&'static Model]) -> Result<u64> {
    delete(session, &expiring(models)).await
}

async fn delete(session: &Session, expiring: &[(&'static str, Expires)]) -> Result<u64> {
    let mut deleted = 0;
    for (collection, expires) in expiring {
        deleted += delete_of(session, collection, *expires).await?;
    }
    Ok(deleted)
}

async fn delete_of(session: &Session, collection: &str, expires: Expires) -> Result<u64> {
    let after = i64::try_from(expires.after.as_millis()).unwrap_or(i64::MAX);
    let until = DateTime::now().timestamp_millis().saturating_sub(after);
    let until = RawBson::DateTime(bson::DateTime::from_millis(until));
    let expired = Filter::Path(expires.path.into(), Test::Lte(until));
    let sort = Sort::new().by(expires.path, Direction::Ascending);
    let order = sort.total();
    let mut find = Find {
        collection: collection.to_owned(),
        filter: expired.clone(),
        sort,
        limit: Some(UNIT),
        projection: Some(Projection::include(["_id", expires.path])?),
        ..Find::default()
    };
    let (mut deleted, mut left) = (0, 0);
    loop {
        let view = session.reader(collection, &[]).await?;
        let position = |document: &RawDocument| Ok(order.key(document));
        let (positions, _) = view.find_with(&find, position).await?;
        drop(view);
        // The `_id` is the last key of the order.
        let ids: Vec<RawBson> = positions
            .iter()
            .filter_map(|of| of.last().cloned())
            .collect();
        match delete_ids(session, collection, &expired, ids.clone()).await {
            Ok(number) => deleted += number,
            // One of them prevents the delete of the others. A transaction cannot go on after it.
            Err(error) if is_of_a_document(&error) && !session.is_bound() => {
                for id in ids {
                    match delete_ids(session, collection, &expired, vec![id]).await {
                        Ok(number) => deleted += number,
                        Err(error) if is_of_a_document(&error) => {
                            left += 1;
                            if left <= MOST_NAMED {
                                tracing::warn!(target: "odm", %error, "an expired document is left");
                            }
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        // Documents that could not be deleted are before the position, and not visited again.
        let is_last = (positions.len() as u64) < UNIT;
        find.after = positions.into_iter().next_back();
        if is_last {
            if left > MOST_NAMED {
                tracing::warn!(target: "odm", collection, left, "more expired documents are left than were named");
            }
            return Ok(deleted);
        }
    }
}

/// Whether a document cannot be deleted while others stay as they are.
fn is_of_a_document(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Restricted
            | ErrorKind::DuplicateKey
            | ErrorKind::Limit
            | ErrorKind::FailedFilter
            | ErrorKind::Uncomputable
    )
}

/// Deletes documents, if they are still expired.
async fn delete_ids(
    session: &Session,
    collection: &str,
    expired: &Filter,
    ids: Vec<RawBson>,
) -> Result<u64> {
    if ids.is_empty() || mutant("expiry") {
        return Ok(0);
    }
    let ids = Filter::Path("_id".into(), Test::In(ids.into()));
    let write = Write::Delete {
        collection: collection.to_owned(),
        target: WriteTarget::Matching(ids.and(expired.clone())),
        returning: None,
        rights: None,
    };
    Ok(session.write(write).await?.matched)
}
