//! Snapshots: closures that read one state of the data.

use odm_store::{Error, Result};

use super::Database;

pub(super) async fn run<D, T, E, F>(database: &D, run: F) -> Result<T, E>
where
    D: Database,
    E: From<Error>,
    F: AsyncFnOnce(D) -> Result<T, E>,
{
    // The end of the closure, or the drop of its future, ends the snapshot, even if other tasks still hold the repositories.
    let (session, _ending) = database.session().snapshot().await?;
    run(D::bind(&session)).await
}
