//! Opens a database on a store.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
    time::Duration,
};

use super::{Database, expiry, outbox};
use crate::{
    catalog::{self, Announcement, Catalog, Declaration, OwnedIndex, Prepared},
    error::{Error, ErrorKind, Result, show},
    migration::{self, Changes, MigrationProgress, Migrations, Plan},
    model::Model,
    repository::{Audit, AuditMode, Progress},
    session::{self, ProgramModels, Session},
    store::{CollectionSpec, Store, StoreId},
    trace::WarningLimits,
};

/// A function that is told how far a migration has come.
type OnProgress = dyn Fn(&MigrationProgress) + Send + Sync;

/// The options of [`open_with`](crate::Database::open_with).
///
/// ```
/// # use odm::__private::examples::*; example(async |shop| {
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
    on_progress: Option<Arc<OnProgress>>,
    expiry_interval: ExpiryInterval,
    refresh_interval: RefreshInterval,
}

/// How often the worker deletes what has expired.
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
    /// Sets how often the documents that have expired are [deleted](crate::Database::delete_expired) in the
    /// background. The default is a minute, as in MongoDB. `None` turns the worker off: for a program that calls
    /// `delete_expired` itself, or one of several whose databases have the model.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
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

    pub(super) fn expiry_interval(&self) -> Option<Duration> {
        self.expiry_interval.0
    }

    /// Sets how often the worker looks for [refreshes](crate::Database::lag) that other databases on the store have left: of
    /// the fields with `fan_out = "background"` and `refresh = "batched"`. Those that follow from writes of this one it begins
    /// at once. The default is a second. `None` turns the worker off: for a program that calls
    /// [`caught_up`](crate::Database::caught_up) itself, or leaves the work to others.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// use odm::OpenOptions;
    ///
    /// // A test that decides itself when copies in the background follow, by `caught_up`.
    /// let options = OpenOptions::default().refresh_every(None);
    /// let shop = Shop::open_with(Embedded::memory().await?, options).await?;
    /// shop.caught_up().await?;
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn refresh_every(mut self, interval: impl Into<Option<Duration>>) -> Self {
        self.refresh_interval = RefreshInterval(interval.into());
        self
    }

    pub(super) fn refresh_interval(&self) -> Option<Duration> {
        self.refresh_interval.0
    }

    /// Makes `open` fail, and change nothing, where it would have to backfill: where a derived field that has no
    /// empty value, such as a copy that is a `String`, was declared over existing documents. What follows from a
    /// migration is computed nevertheless.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
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

    /// Calls a function after each unit of a [migration](crate::migration), in place of an event.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
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

    /// Sets the time from which on an operation is slow: one that takes longer emits a `tracing` event at the
    /// level `WARN` under the target `odm`. The default is 100 ms; `Duration::MAX` turns it off.
    ///
    /// The time is that of the whole operation, as its caller sees it: a write waits for other writes, and for the
    /// disk. Of a stream each chunk is an operation. The event has the fields of the one that each operation emits
    /// at the level `DEBUG`: `operation`, `collection`, `elapsed_us`, the numbers of a [`Cost`](crate::store::Cost),
    /// and of a search the shape of its `filter`, in which `?` stands for each value, its `sort`, and the `index`.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
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
    /// index ([`documents_scanned`](crate::store::Cost::documents_scanned)) emits a `tracing` event at the level
    /// `WARN` under the target `odm`, with the fields that [`slow_operation`](OpenOptions::slow_operation) lists.
    /// The default is 10,000; `u64::MAX` turns it off.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
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

    pub(super) fn warning_limits(&self) -> WarningLimits {
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

/// A database that was opened.
pub(super) struct Opened {
    pub(super) catalog: Catalog,
    /// The number of steps, if what follows from a migration is still to be computed.
    pub(super) migrated: Option<usize>,
}

/// Opens a database, with its workers.
pub(super) async fn database<D: Database>(store: impl Store, options: OpenOptions) -> Result<D> {
    session::refuse_inside_transaction(&store)?;
    let models = D::models();
    let declaration = Declaration::new(D::NAME, D::VERSION, &models)?;
    let opened = open(&store, declaration, &models, &D::migrations(), &options).await?;
    let program = ProgramModels {
        database: D::NAME,
        version: D::VERSION,
        models,
    };
    let models = program.models.clone();
    let session = Session::new(
        Arc::new(store),
        opened.catalog,
        program,
        options.warning_limits(),
    );
    match opened.migrated {
        Some(steps) => compute_derived(&session, steps, &options).await?,
        None => backfill_unreadable(&session, D::NAME).await?,
    }
    report_pending(&session, D::NAME);
    let expiring = options
        .expiry_interval()
        .and_then(|interval| expiry::start(&session, &models, interval));
    let refreshing = outbox::start(&session, options.refresh_interval()).await?;
    let workers = [expiring, refreshing].into_iter().flatten().collect();
    Ok(D::bind(&session.with_workers(workers)))
}

/// Runs the migrations to a version of a database, makes its collections and indexes, removes the indexes that
/// nobody declares any more, and declares the database in the catalog of the store.
pub(super) async fn open(
    store: &dyn Store,
    declaration: Declaration,
    models: &[&'static Model],
    migrations: &Migrations,
    options: &OpenOptions,
) -> Result<Opened> {
    let lock = lock_of(store);
    let _opening = lock.lock().await;
    let mut announcement = None;
    let opened = open_announced(
        store,
        declaration,
        models,
        migrations,
        options,
        &mut announcement,
    );
    let opened = opened.await;
    if let (Err(_), Some(announcement)) = (&opened, announcement) {
        // Where that fails too, a later `open` removes the announcement.
        announcement.withdraw(store).await.ok();
    }
    opened
}

async fn open_announced(
    store: &dyn Store,
    declaration: Declaration,
    models: &[&'static Model],
    migrations: &Migrations,
    options: &OpenOptions,
    announcement: &mut Option<Announcement>,
) -> Result<Opened> {
    // Nothing is created or changed for models that do not fit to those of others.
    let prepare = || catalog::prepare(store, &declaration, !options.refuses_backfill);
    let mut prepared = prepare().await?;
    if let Prepared::Newest {
        is_change: true, ..
    } = prepared
    {
        *announcement = Announcement::make(store).await?;
    }
    if announcement.is_some() {
        // Others may have been declared meanwhile.
        prepared = prepare().await?;
    }
    let name = declaration.name.clone();
    let mut plan = None;
    if let Prepared::Newest {
        collections,
        retired,
        ..
    } = &prepared
    {
        if let Some(stored) = catalog::stored_of(&*store.reader()?, &name).await? {
            let reader = store.reader()?;
            let planned = Plan::new(&*reader, &stored, &declaration, migrations, models).await?;
            Changes::new(&stored, &declaration, &planned).report();
            // Another version was declared since.
            if announcement.is_none() && planned.left().next().is_some() {
                *announcement = Announcement::make(store).await?;
            }
            unvalidate(store, &planned).await?;
            migration::run(store, &planned, &|progress| options.report(&name, progress)).await?;
            let reader = store.reader()?;
            migration::refuse_unreadable(&*reader, &stored, &declaration, models).await?;
            plan = Some(planned);
        }
        let ensured = store.ensure(collections).await;
        ensured.map_err(not_built)?;
        report_retired(&name, collections, retired);
    }
    let touched = plan.as_ref().map(Plan::touched).unwrap_or_default();
    let catalog = catalog::declare(store, declaration, touched, announcement).await?;
    store.validate(&catalog.validations()).await?;
    let stored = catalog::stored_of(&*store.reader()?, &name).await?;
    let is_unfinished = stored.is_some_and(|stored| stored.is_unfinished);
    Ok(Opened {
        catalog,
        migrated: is_unfinished.then(|| plan.map_or(0, |plan| plan.len())),
    })
}

/// Lets the store accept what the steps of a migration write, which conforms to what is declared after them.
async fn unvalidate(store: &dyn Store, plan: &Plan) -> Result<()> {
    let touched = plan.touched();
    if touched.is_empty() {
        return Ok(());
    }
    let mut validations = catalog::load(&*store.reader()?).await?.validations();
    validations.retain(|of| {
        !touched
            .iter()
            .any(|(collection, _)| *collection == of.collection)
    });
    store.validate(&validations).await
}

/// Says what is pending.
pub(super) fn report_pending(session: &Session, name: &str) {
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
pub(super) async fn backfill_unreadable(session: &Session, name: &str) -> Result<()> {
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

/// Computes the derived fields that follow from what a migration of so many steps has changed.
pub(super) async fn compute_derived(
    session: &Session,
    steps: usize,
    options: &OpenOptions,
) -> Result<()> {
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

/// What opening a database would change.
pub(super) async fn check(
    store: &dyn Store,
    declaration: &Declaration,
    models: &[&'static Model],
    migrations: &Migrations,
) -> Result<Changes> {
    let reader = store.reader()?;
    catalog::check_declaration(&*reader, declaration).await?;
    let Some(stored) = catalog::stored_of(&*reader, &declaration.name).await? else {
        return Ok(Changes::of_new(declaration));
    };
    let plan = Plan::new(&*reader, &stored, declaration, migrations, models).await?;
    if plan.left().next().is_none() {
        migration::refuse_unreadable(&*reader, &stored, declaration, models).await?;
    }
    Ok(Changes::new(&stored, declaration, &plan))
}

type Lock = tokio::sync::Mutex<()>;

/// The lock of the databases that are being opened on a store: between what one reads in the catalog
/// and what it declares there, no other may change the indexes. Stores without an identity share one.
fn lock_of(store: &dyn Store) -> Arc<Lock> {
    static LOCKS: LazyLock<Mutex<HashMap<Option<StoreId>, Weak<Lock>>>> =
        LazyLock::new(Mutex::default);
    let id = store.capabilities().single_writer;
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    locks.retain(|_, lock| lock.strong_count() > 0);
    let lock = locks.get(&id).and_then(Weak::upgrade);
    lock.unwrap_or_else(|| {
        let new = Arc::new(Lock::default());
        locks.insert(id, Arc::downgrade(&new));
        new
    })
}

fn report_retired(database: &str, collections: &[CollectionSpec], retired: &BTreeSet<OwnedIndex>) {
    for OwnedIndex {
        collection, name, ..
    } in retired
    {
        let mut collections = collections.iter();
        let is_replaced = collections.any(|other| {
            other.name == *collection && other.indexes.iter().any(|index| index.name == *name)
        });
        let message = match is_replaced {
            true => "index replaced: its declaration has changed",
            false => "index removed: no database on the store declares it any more",
        };
        tracing::info!(target: "odm", database, collection, index = name, "{message}");
    }
}

/// The error of documents that have the same key in a new unique index.
fn not_built(error: Error) -> Error {
    let Some(location) = error.location().filter(|_| error.is_duplicate_key()) else {
        return error;
    };
    let index = location.index.as_deref().unwrap_or_default();
    let value = location.id.as_ref().map(show).unwrap_or_default();
    let message = format!(
        "index `{index}` of `{}` not built: it is declared unique, and several documents have the value \
         {value}; nothing has changed: give them different values, and open the database again",
        location.collection
    );
    let (path, id) = (location.path.as_deref(), location.id.clone());
    let not_built = Error::new(ErrorKind::DuplicateKey, message);
    not_built
        .at(&location.collection, path, id)
        .of_index(index)
        .with_source(error.clone())
}
