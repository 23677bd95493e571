//! The deletion of expired documents, of models with `#[document(expires(..))]`, by the declarations in the store.

use std::{sync::Arc, time::Duration};

use bson::{RawBson, RawDocument};
use odm_mql::{Direction, Filter, Projection, Sort, Test};
use odm_store::{Error, ErrorKind, Find, ReaderExt, Result, mutants::mutant};

use super::outbox::LEAST;
use crate::{
    catalog::Expiry,
    maintain::{Write, WriteTarget},
    model::DateTime,
    session::{Session, Worker},
};

/// How many documents a unit deletes.
const UNIT: u64 = 100;

/// How many undeletable documents a pass names.
const MOST_NAMED: u64 = 100;

/// Starts the worker that deletes expired documents, at once and then at each interval, until the session is dropped or the store is
/// closed. It starts none if no documents expire.
pub(crate) fn start(session: &Session, interval: Option<Duration>) -> Option<Worker> {
    let interval = interval?.max(LEAST);
    session.catalog().relations().expiries().next()?;
    let database = session.database();
    if tokio::runtime::Handle::try_current().is_err() {
        tracing::warn!(
            target: "odm", database,
            "expiry: the database was not opened in a runtime of tokio, so that the worker begins when it is used in one"
        );
    }
    let session = Arc::new(session.downgrade());
    Some(Worker::new("expiry", database, move || {
        work(session.clone(), interval)
    }))
}

async fn work(session: Arc<impl Fn() -> Option<Session>>, interval: Duration) {
    loop {
        {
            let Some(session) = session() else { return };
            match delete_expired(&session).await {
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

/// Deletes the documents that have expired by the declarations in the store, and returns their number. A collection in which that fails
/// does not keep it from the others. In a transaction, which cannot go on then, it does.
pub(crate) async fn delete_expired(session: &Session) -> Result<u64> {
    let catalog = session.current_catalog().await?;
    let (mut deleted, mut failed) = (0, None);
    for (collection, expiry) in catalog.relations().expiries() {
        match delete_of(session, collection, expiry).await {
            Ok(number) => deleted += number,
            Err(error) if session.is_bound() || error.kind() == ErrorKind::Closed => {
                return Err(error);
            }
            Err(error) => {
                failed.get_or_insert(error);
            }
        }
    }
    failed.map_or(Ok(deleted), Err)
}

async fn delete_of(
    session: &Session,
    collection: &str,
    Expiry { path, after }: &Expiry,
) -> Result<u64> {
    let until = DateTime::now().timestamp_millis().saturating_sub(*after);
    let until = RawBson::DateTime(bson::DateTime::from_millis(until));
    let expired = Filter::Path(path.clone().into(), Test::Lte(until));
    let sort = Sort::new().by(path.clone(), Direction::Ascending);
    let order = sort.total();
    let mut find = Find {
        collection: collection.to_owned(),
        filter: expired.clone(),
        sort,
        limit: Some(UNIT),
        projection: Some(Projection::include(["_id".to_owned(), path.clone()])?),
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
