//! The deletion of expired documents: of models with `#[document(expires(..))]`.

use std::time::Duration;

use bson::RawBson;

use crate::{
    error::{Error, ErrorKind, Result},
    maintain::Write,
    model::{DateTime, Expires, Model},
    mql::{Direction, Filter, Projection, Sort, Test},
    session::{Session, Worker},
    store::{DeleteWrite, Find, ReaderExt},
};

/// How many documents a unit deletes.
const UNIT: u64 = 100;

/// How many documents that cannot be deleted a pass goes past.
const MOST_LEFT: usize = 1_000;

/// The models whose documents expire.
fn expiring(models: &[&'static Model]) -> Vec<(&'static str, Expires)> {
    let expiring = models.iter();
    let expiring = expiring.filter_map(|model| Some((model.collection, model.expires?)));
    expiring.collect()
}

/// Starts the worker that deletes what has expired, at once and then at each interval, until the session is dropped or
/// the store is closed. There is none without such a model.
pub(super) fn start(
    session: &Session,
    models: &[&'static Model],
    interval: Duration,
) -> Option<Worker> {
    let expiring = expiring(models);
    if expiring.is_empty() {
        return None;
    }
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        tracing::warn!(
            target: "odm",
            "expired documents are only deleted by `delete_expired`: the database was not opened in a runtime of tokio"
        );
        return None;
    };
    let session = session.downgrade();
    Some(Worker::new(&runtime, async move {
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
            tokio::time::sleep(interval.max(Duration::from_millis(1))).await;
        }
    }))
}

/// Deletes what has expired, and returns the number of documents.
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
    let mut left: Vec<RawBson> = Vec::new();
    let mut deleted = 0;
    loop {
        let is_left = Filter::Path("_id".into(), Test::Nin(left.clone().into()));
        let find = Find {
            collection: collection.to_owned(),
            filter: expired.clone().and(is_left),
            sort: Sort::new().by(expires.path, Direction::Ascending),
            limit: Some(UNIT),
            projection: Some(Projection::include(["_id"])?),
            ..Find::default()
        };
        let view = session.reader(collection, &[]).await?;
        let id = |document: &bson::RawDocument| {
            let id = document.get("_id").map_err(Error::malformed)?;
            Ok(id.map_or(RawBson::Null, RawBson::from))
        };
        let (ids, _) = view.find_with(&find, id).await?;
        drop(view);
        let is_last = (ids.len() as u64) < UNIT;
        match delete_ids(session, collection, &expired, ids.clone()).await {
            Ok(number) => deleted += number,
            // One of them prevents the others. A transaction cannot go on after it.
            Err(error) if is_of_a_document(&error) && !session.is_bound() => {
                for id in ids {
                    match delete_ids(session, collection, &expired, vec![id.clone()]).await {
                        Ok(number) => deleted += number,
                        Err(error) if is_of_a_document(&error) => {
                            tracing::warn!(target: "odm", %error, "an expired document is left");
                            left.push(id);
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        if is_last || left.len() > MOST_LEFT {
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
    )
}

/// Deletes documents, if they have still expired.
async fn delete_ids(
    session: &Session,
    collection: &str,
    expired: &Filter,
    ids: Vec<RawBson>,
) -> Result<u64> {
    if ids.is_empty() {
        return Ok(0);
    }
    let write = Write::Delete {
        write: DeleteWrite {
            collection: collection.to_owned(),
            filter: Filter::Path("_id".into(), Test::In(ids.into())).and(expired.clone()),
        },
        returning: None,
    };
    Ok(session.write(write).await?.matched)
}
