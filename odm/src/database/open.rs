//! Opens a database on a store.

mod announced;
mod migrate;
mod report;
mod run;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc, time::Duration};

pub(crate) use self::announced::lock_of;
pub(super) use self::run::check;
use futures_core::future::BoxFuture;
use odm_store::{Result, Store};

use self::run::open;
use super::{Database, expiry, outbox};
use crate::{
    catalog::{Catalog, Declaration},
    migration::{MigrationProgress, Migrations},
    repository::{Audit, AuditMode, Progress},
    session::{self, ProgramModels, Session},
    trace::WarningLimits,
};

/// A function that receives the progress of a migration.
type OnMigrationProgress = dyn Fn(&MigrationProgress) + Send + Sync;

/// The options of [`open_with`](crate::Database::open_with).
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use std::time::Duration;
/// use odm::OpenOptions;
///
/// let options = OpenOptions::default().refuse_backfill().slow_operation(Duration::from_millis(20));
/// let shop = Shop::open_with(Embedded::memory().await?, options).await?;
/// # Ok(()) });
/// ```
#[derive(Clone, Default)]
pub struct OpenOptions {
    refuses_backfill: bool,
    warning_limits: WarningLimits,
    on_progress: Option<Arc<OnMigrationProgress>>,
    expiry_interval: ExpiryInterval,
    refresh_interval: RefreshInterval,
}

/// How often the worker deletes expired documents.
#[derive(Debug, Clone, Copy)]
struct ExpiryInterval(Option<Duration>);

impl Default for ExpiryInterval {
    fn default() -> Self {
        ExpiryInterval(Some(Duration::from_secs(60)))
    }
}

/// How often the worker of the outbox looks for records.
#[derive(Debug, Clone, Copy)]
struct RefreshInterval(Option<Duration>);

impl Default for RefreshInterval {
    fn default() -> Self {
        RefreshInterval(Some(Duration::from_secs(1)))
    }
}

impl OpenOptions {
    /// Sets how often expired documents are [deleted](crate::Database::delete_expired) in the background. The default is a minute, as in
    /// MongoDB, the least a millisecond. `None` turns the worker off: for a program that calls `delete_expired` itself, or if another
    /// program with the model does the work.
    ///
    /// If the runtime of `open` ends, the worker goes on in another one, as the worker of [`refresh_every`](OpenOptions::refresh_every)
    /// does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use std::time::Duration;
    /// use odm::OpenOptions;
    ///
    /// let hourly = OpenOptions::default().delete_expired_every(Duration::from_secs(3600));
    /// let shop = Shop::open_with(Embedded::memory().await?, hourly).await?;
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn delete_expired_every(mut self, interval: impl Into<Option<Duration>>) -> Self {
        self.expiry_interval = ExpiryInterval(interval.into());
        self
    }

    pub(crate) fn expiry_interval(&self) -> Option<Duration> {
        self.expiry_interval.0
    }

    /// Sets how often the worker looks for [deferred refreshes](crate::Database::deferred_refreshes) after writes by other databases on the
    /// store. Those after writes of this database begin at once. The default is a second, the least a millisecond. `None` turns the worker
    /// off: for a program that calls [`wait_for_refreshes`](crate::Database::wait_for_refreshes) itself, or leaves the work to others.
    ///
    /// The worker is a task in the runtime of `open`. When that runtime ends, a `tracing` event at the level `WARN` reports it, and the
    /// worker goes on in the runtime in which the database is used next.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::OpenOptions;
    ///
    /// // A test that decides itself when deferred copies follow, by `wait_for_refreshes`.
    /// let options = OpenOptions::default().refresh_every(None);
    /// let shop = Shop::open_with(Embedded::memory().await?, options).await?;
    /// shop.wait_for_refreshes().await?;
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn refresh_every(mut self, interval: impl Into<Option<Duration>>) -> Self {
        self.refresh_interval = RefreshInterval(interval.into());
        self
    }

    pub(crate) fn refresh_interval(&self) -> Option<Duration> {
        self.refresh_interval.0
    }

    /// Makes
    /// `open` fail, and change nothing, if it would have to backfill: if a derived field without an empty value, such as a copy that is a
    /// `String`, was declared over existing documents. Derived fields that follow from a migration are computed nevertheless.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::OpenOptions;
    ///
    /// // A service that must be up in a moment: let a tool backfill first.
    /// let options = OpenOptions::default().refuse_backfill();
    /// let shop = Shop::open_with(Embedded::memory().await?, options).await?;
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn refuse_backfill(mut self) -> Self {
        self.refuses_backfill = true;
        self
    }

    /// Calls a function after each unit of a [migration](crate::migration), instead of emitting an event.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::OpenOptions;
    ///
    /// let options = OpenOptions::default().on_progress(|progress| println!("{progress}"));
    /// let shop = Shop::open_with(Embedded::memory().await?, options).await?;
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn on_progress(
        mut self,
        progress: impl Fn(&MigrationProgress) + Send + Sync + 'static,
    ) -> Self {
        self.on_progress = Some(Arc::new(progress));
        self
    }

    /// Sets the time from which on an operation is slow: an operation that takes longer emits a `tracing` event at the level `WARN` under
    /// the target `odm`. The default is 100 ms; `Duration::MAX` turns it off.
    ///
    /// The measured time is the time of the whole operation, as its caller sees it, with the waits of a write for other writes and for the
    /// disk. Each chunk of a stream is an operation. An operation on many documents, such as `insert_many`, `get_many`, a `bulk` and the
    /// chunks of an audit, an export and an import, or a write with many effects, may take the time again for each 100 documents. Only the
    /// first write of a `bulk` warns, since all take the time of the unit. The event has the same fields as the event at the level `DEBUG`
    /// that each operation emits: `operation`, `collection`, `elapsed_us`, the numbers of a [`Cost`](odm_store::Cost), and for a search the
    /// shape of its `filter`, in which `?` stands for each value, its `sort`, and the `index`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use std::time::Duration;
    /// use odm::OpenOptions;
    ///
    /// let options = OpenOptions::default().slow_operation(Duration::from_millis(20));
    /// let shop = Shop::open_with(Embedded::memory().await?, options).await?;
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn slow_operation(mut self, longer_than: Duration) -> Self {
        self.warning_limits.elapsed = longer_than;
        self
    }

    /// Sets the number of documents from which on a scan is large: an operation that reads more of them without an
    /// index ([`documents_scanned`](odm_store::Cost::documents_scanned)) emits a `tracing` event at the level
    /// `WARN` under the target `odm`, with the fields that
    /// [`slow_operation`](OpenOptions::slow_operation) lists. So does an operation that examines more than so many index keys without
    /// returning or writing their documents, as a count, or a search by an index that does not cover all conditions; an operation on many
    /// documents may examine as many again for each 100 of them. The default is 10,000; `u64::MAX` turns it off.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::OpenOptions;
    ///
    /// // In tests: no request reads more than a handful of documents without an index.
    /// let options = OpenOptions::default().large_scan(10);
    /// let shop = Shop::open_with(Embedded::memory().await?, options).await?;
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn large_scan(mut self, more_than: u64) -> Self {
        self.warning_limits.documents_scanned = more_than;
        self
    }

    pub(crate) fn warning_limits(&self) -> WarningLimits {
        self.warning_limits
    }

    fn report(&self, database: &str, progress: &MigrationProgress) {
        match &self.on_progress {
            Some(report) => report(progress),
            None => tracing::info!(target: "odm", database, "migration: {progress}"),
        }
    }
}

impl fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenOptions")
            .field("refuses_backfill", &self.refuses_backfill)
            .field("warning_limits", &self.warning_limits)
            .finish_non_exhaustive()
    }
}

/// An opened database.
struct Opened {
    catalog: Catalog,
    /// The number of steps, if the derived fields are still to be computed after a migration.
    migrated: Option<usize>,
}

/// Opens a database, with its workers.
pub(super) async fn database<D: Database>(store: impl Store, options: OpenOptions) -> Result<D> {
    session::refuse_inside_transaction(&store)?;
    let program = ProgramModels {
        database: D::NAME,
        version: D::VERSION,
        models: D::models(),
    };
    let session = session_of(Arc::new(store), program, D::migrations(), options).await?;
    Ok(D::bind(&session))
}

/// Opens the database of a program. The future is boxed: of an `async fn` the compiler makes a copy in each program that awaits it, with all
/// that it awaits.
fn session_of(
    store: Arc<dyn Store>,
    program: ProgramModels,
    migrations: Migrations,
    options: OpenOptions,
) -> BoxFuture<'static, Result<Session>> {
    Box::pin(async move {
        let name = program.database;
        let declaration = Declaration::new(name, program.version, &program.models)?;
        let session = |store, catalog| {
            Session::new(store, catalog, program.clone(), options.warning_limits())
        };
        let opened = open(
            &store,
            declaration,
            &program.models,
            &migrations,
            &options,
            &session,
        )
        .await?;
        let session = session(store, opened.catalog);
        match opened.migrated {
            Some(steps) => compute_derived(&session, steps, &options).await?,
            None => backfill_unreadable(&session, name).await?,
        }
        report_pending(&session, name);
        if session.store().capabilities().read_only {
            return Ok(session);
        }
        let expiring = expiry::start(&session, options.expiry_interval());
        let refreshing = outbox::start(&session, options.refresh_interval()).await?;
        let workers = [expiring, refreshing].into_iter().flatten().collect();
        Ok(session.with_workers(workers))
    })
}

/// Reports the pending fields.
fn report_pending(session: &Session, name: &str) {
    let catalog = session.catalog();
    if !catalog.pending().is_empty() {
        tracing::warn!(
            target: "odm",
            database = name,
            places = ?catalog.pending(),
            "pending backfills: relations were declared over existing documents; run `backfill()`",
        );
    }
}

/// Computes the pending fields without which documents cannot be read.
async fn backfill_unreadable(session: &Session, name: &str) -> Result<()> {
    /// How many documents are checked between two reports.
    const REPORTED: u64 = 10_000;
    let fields = session.catalog().unreadable_pending();
    if fields.is_empty() {
        return Ok(());
    }
    tracing::info!(
        target: "odm", database = name, ?fields,
        "backfill before opening: documents cannot be read until these fields are computed in them"
    );
    let mut backfill = Audit::of_pending(session, fields);
    let mut reported = 0;
    while let Some(finding) = backfill.try_next().await? {
        let Progress { checked, total, .. } = *backfill.progress();
        if checked / REPORTED > reported {
            reported = checked / REPORTED;
            tracing::info!(target: "odm", database = name, checked, total, "backfill before opening");
        }
        if !finding.repaired {
            tracing::warn!(target: "odm", database = name, %finding, "backfill before opening: not repaired");
        }
    }
    Ok(())
}

/// Computes the derived fields after a migration of so many steps.
async fn compute_derived(session: &Session, steps: usize, options: &OpenOptions) -> Result<()> {
    let name = session.database();
    let mut backfill = Audit::of_models(session, AuditMode::Backfill);
    let mut reported = 0;
    while let Some(finding) = backfill.try_next().await? {
        if !finding.repaired {
            tracing::warn!(target: "odm", database = name, %finding, "not repaired after a migration");
        }
        let checked = backfill.progress().checked;
        if checked > reported {
            reported = checked;
            options.report(name, &MigrationProgress::of_derived(steps, checked));
        }
    }
    session.end_migration().await?;
    let checked = backfill.progress().checked;
    options.report(name, &MigrationProgress::of_derived(steps, checked));
    Ok(())
}
