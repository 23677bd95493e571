//! The worker of the outbox: it refreshes deferred fields.

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use odm_store::{ErrorKind, Result};

use crate::session::{Outbox, Session, Worker};

/// The waits of the worker after errors: the first one, and the longest one.
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(60);

/// How long a worker waits while the worker of another program works off the records.
const ELSEWHERE: Duration = Duration::from_millis(500);

/// The shortest interval of a worker, so that it does not monopolize the store.
pub(super) const LEAST: Duration = Duration::from_millis(1);

/// Starts the worker, unless it is turned off or there are no deferred fields. Failed refreshes are retried.
pub(crate) async fn start(session: &Session, interval: Option<Duration>) -> Result<Option<Worker>> {
    if !session.needs_outbox().await? {
        return Ok(None);
    }
    session.retry_failed_refreshes().await?;
    let Some(interval) = interval else {
        tracing::debug!(
            target: "odm", database = session.database(),
            "deferred refreshes: this program has no worker, and leaves them to `wait_for_refreshes` or another program"
        );
        return Ok(None);
    };
    let database = session.database();
    if tokio::runtime::Handle::try_current().is_err() {
        tracing::warn!(
            target: "odm", database,
            "deferred refreshes: the database was not opened in a runtime of tokio, so that the worker begins when it is used in one"
        );
    }
    let interval = interval.max(LEAST);
    let outbox = session.outbox().clone();
    let session = Arc::new(session.downgrade());
    Ok(Some(Worker::new(
        "deferred refreshes",
        database,
        move || work(session.clone(), outbox.clone(), interval),
    )))
}

async fn work(session: Arc<impl Fn() -> Option<Session>>, outbox: Arc<Outbox>, interval: Duration) {
    let mut failures = 0;
    loop {
        let mut is_elsewhere = false;
        {
            let Some(session) = session() else { return };
            match session.work_off_outbox().await {
                Ok(has_worked) => {
                    failures = 0;
                    is_elsewhere = !has_worked;
                }
                Err(error) if error.kind() == ErrorKind::Closed => return,
                Err(error) => {
                    failures += 1;
                    tracing::warn!(
                        target: "odm", database = session.database(), %error,
                        "deferred refreshes: an error has ended a unit, which is run again"
                    );
                }
            }
        }
        match failures {
            // New records do not end this wait: the other worker finds them.
            0 if is_elsewhere => tokio::time::sleep(ELSEWHERE).await,
            0 => outbox.woken(interval).await,
            _ => tokio::time::sleep(pause(failures)).await,
        }
    }
}

/// How long the worker waits after so many errors in a row. It is longer each time, even if new records arrive.
fn pause(failures: u32) -> Duration {
    (FIRST * 2_u32.saturating_pow(failures - 1)).min(LONGEST)
}
