//! The worker of the outbox: it refreshes deferred fields.

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::{
    error::{ErrorKind, Result},
    session::{Session, Worker},
};

/// The longest wait of the worker after an error.
const LONGEST: Duration = Duration::from_secs(60);

/// Starts the worker, unless there is nothing for it, or it is turned off. Records that were parked are tried again.
pub(super) async fn start(session: &Session, interval: Option<Duration>) -> Result<Option<Worker>> {
    if !session.needs_outbox().await? {
        return Ok(None);
    }
    session.retry_parked().await?;
    let Some(interval) = interval else {
        tracing::debug!(
            target: "odm", database = session.database(),
            "outbox: this program has no worker, so that deferred fields are refreshed by `caught_up` or another program"
        );
        return Ok(None);
    };
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        tracing::warn!(
            target: "odm", database = session.database(),
            "deferred fields are only refreshed by `caught_up`: the database was not opened in a runtime of tokio"
        );
        return Ok(None);
    };
    let interval = interval.max(Duration::from_millis(1));
    let outbox = session.outbox().clone();
    let session = session.downgrade();
    Ok(Some(Worker::new(&runtime, async move {
        let mut wait = interval;
        loop {
            {
                let Some(session) = session() else { return };
                match session.work_off_outbox().await {
                    Ok(()) => wait = interval,
                    Err(error) if error.kind() == ErrorKind::Closed => return,
                    Err(error) => {
                        wait = (wait * 2).min(LONGEST.max(interval));
                        tracing::warn!(
                            target: "odm", database = session.database(), %error,
                            "outbox: deferred fields were not refreshed, and are tried again"
                        );
                    }
                }
            }
            match wait == interval {
                true => outbox.woken(wait).await,
                false => tokio::time::sleep(wait).await,
            }
        }
    })))
}
