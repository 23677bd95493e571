//! The engine: redb, with one table of bytes.
//!
//! redb checks its pages when it opens a file after a crash and on demand, not on every read, and
//! panics on some damage. Each call into it is therefore guarded: a panic becomes an error that
//! names the file.

use std::{
    ops::Deref,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use redb::{
    AccessGuard, Database, DatabaseError, Durability, ReadOnlyTable, ReadableDatabase,
    StorageBackend, StorageError, TableDefinition,
};
use tracing::warn;

use super::{
    Engine, Snapshot,
    shield::{Shield, Shielded},
};
use crate::error::{Error, ErrorKind, Result};

const TABLE: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("odm");

/// An open database.
pub(in super::super) struct Redb {
    database: Database,
    shield: Arc<Shield>,
    name: Arc<str>,
}

impl Redb {
    /// Opens what a backend holds, or makes a database in it if it is empty. `name` is used in
    /// messages.
    pub(in super::super) fn open(
        backend: impl StorageBackend,
        name: Arc<str>,
        cache_size: usize,
    ) -> Result<Redb> {
        let shield = Arc::new(Shield::default());
        let backend = Shielded::new(backend, shield.clone());
        let database = guard(&name, || {
            let mut builder = Database::builder();
            builder.set_cache_size(cache_size);
            let repaired = name.clone();
            let told = std::cell::Cell::new(false);
            builder.set_repair_callback(move |_| {
                if !told.replace(true) {
                    warn!(
                        store = &*repaired,
                        "the store was not closed: recovering its last commit"
                    );
                }
            });
            builder
                .create_with_backend(backend)
                .map_err(|error| opening(&name, error))
        })?;
        let mut engine = Redb {
            database,
            shield,
            name,
        };
        engine.unfrozen()?;
        // A commit makes the table, if this is a new database.
        if engine.snapshot().is_err() {
            engine.commit(std::iter::empty(), true)?;
        }
        Ok(engine)
    }

    fn unfrozen(&mut self) -> Result<()> {
        match self.shield.failure() {
            None => Ok(()),
            Some(cause) => {
                let message = format!("cannot write to `{}`: {cause}", self.name);
                Err(Error::new(ErrorKind::Io, message).with_source(cause))
            }
        }
    }
}

impl Engine for Redb {
    type Snapshot = RedbSnapshot;

    fn snapshot(&self) -> Result<RedbSnapshot> {
        guard(&self.name, || {
            let transaction = self
                .database
                .begin_read()
                .map_err(|e| failed(&self.name, e))?;
            // The table holds the transaction.
            let table = transaction
                .open_table(TABLE)
                .map_err(|e| failed(&self.name, e))?;
            Ok(RedbSnapshot {
                table,
                name: self.name.clone(),
            })
        })
    }

    fn commit<'a>(
        &mut self,
        changes: impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)>,
        durable: bool,
    ) -> Result<()> {
        self.unfrozen()?;
        guard(&self.name, || {
            let fail = |error: redb::Error| failed(&self.name, error);
            let mut transaction = self.database.begin_write().map_err(|e| fail(e.into()))?;
            let durability = if durable {
                Durability::Immediate
            } else {
                Durability::None
            };
            transaction
                .set_durability(durability)
                .map_err(|e| fail(e.into()))?;
            {
                let mut table = transaction.open_table(TABLE).map_err(|e| fail(e.into()))?;
                for (key, value) in changes {
                    match value {
                        Some(value) => {
                            table.insert(key, value).map_err(|e| fail(e.into()))?;
                        }
                        None => {
                            table.remove(key).map_err(|e| fail(e.into()))?;
                        }
                    }
                }
            }
            transaction.commit().map_err(|e| fail(e.into()))
        })?;
        // The engine has not seen an error of the disk: this is where a commit fails.
        self.unfrozen()
    }

    fn check(&mut self) -> Result<()> {
        let name = self.name.clone();
        let sound = guard(&name, || {
            self.database
                .check_integrity()
                .map_err(|error| opening(&name, error))
        })?;
        self.unfrozen()?;
        if sound {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Corrupt,
            format!("`{name}` is damaged: checksums do not match"),
        ))
    }
}

/// A read transaction with its table.
pub(in super::super) struct RedbSnapshot {
    table: ReadOnlyTable<&'static [u8], &'static [u8]>,
    name: Arc<str>,
}

impl Snapshot for RedbSnapshot {
    type Bytes = Bytes;
    type Range = Range;

    #[inline]
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        guard(&self.name, || match self.table.get(key) {
            Ok(Some(value)) => Ok(Some(Bytes::new(value))),
            Ok(None) => Ok(None),
            Err(error) => Err(failed(&self.name, error)),
        })
    }

    fn range(&self, lower: &[u8], upper: &[u8]) -> Result<Range> {
        let range = guard(&self.name, || {
            self.table
                .range(lower..upper)
                .map_err(|error| failed(&self.name, error))
        })?;
        Ok(Range {
            range,
            name: self.name.clone(),
        })
    }
}

/// A key or a value in a page of the cache.
pub(in super::super) struct Bytes(AccessGuard<'static, &'static [u8]>);

impl Bytes {
    /// Must be called under [`guard`]: the place of the bytes in their page is checked here, once,
    /// so that to look at them later cannot fail.
    #[inline]
    fn new(guard: AccessGuard<'static, &'static [u8]>) -> Bytes {
        let _ = guard.value();
        Bytes(guard)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.0.value()
    }
}

/// The entries of a range.
pub(in super::super) struct Range {
    range: redb::Range<'static, &'static [u8], &'static [u8]>,
    name: Arc<str>,
}

type RawEntry = redb::Result<
    (
        AccessGuard<'static, &'static [u8]>,
        AccessGuard<'static, &'static [u8]>,
    ),
    StorageError,
>;

impl Range {
    #[inline]
    fn step(
        &mut self,
        step: impl FnOnce(&mut redb::Range<'static, &'static [u8], &'static [u8]>) -> Option<RawEntry>,
    ) -> Option<Result<(Bytes, Bytes)>> {
        let Range { range, name } = self;
        guard(name, || match step(range) {
            Some(Ok((key, value))) => Ok(Some((Bytes::new(key), Bytes::new(value)))),
            Some(Err(error)) => Err(failed(name, error)),
            None => Ok(None),
        })
        .transpose()
    }
}

impl Iterator for Range {
    type Item = Result<(Bytes, Bytes)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.step(Iterator::next)
    }
}

impl DoubleEndedIterator for Range {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(DoubleEndedIterator::next_back)
    }
}

/// Runs a call into the engine. A panic in it means that it met something it never writes.
#[inline]
fn guard<T>(name: &str, call: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result,
        Err(panic) => Err(panicked(name, &*panic)),
    }
}

#[cold]
fn panicked(name: &str, panic: &(dyn std::any::Any + Send)) -> Error {
    let why = super::super::wait::panic_message(panic);
    Error::new(
        ErrorKind::Corrupt,
        format!("`{name}` is damaged: the engine gave up ({why})"),
    )
}

#[cold]
fn opening(name: &str, error: DatabaseError) -> Error {
    match error {
        DatabaseError::DatabaseAlreadyOpen => Error::new(
            ErrorKind::Locked,
            format!("`{name}` is open already, in this process or in another"),
        ),
        DatabaseError::UpgradeRequired(version) => Error::new(
            ErrorKind::Corrupt,
            format!(
                "`{name}` has version {version} of the engine's format, which is not supported"
            ),
        ),
        error => failed(name, error),
    }
}

#[cold]
fn failed(name: &str, error: impl Into<redb::Error>) -> Error {
    match error.into() {
        redb::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            let message = format!("`{name}` is no store of this library: {error}");
            Error::new(ErrorKind::Corrupt, message).with_source(error)
        }
        redb::Error::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            let message = format!("`{name}` is damaged: it is shorter than it should be");
            Error::new(ErrorKind::Corrupt, message).with_source(error)
        }
        redb::Error::Io(error) => {
            Error::new(ErrorKind::Io, format!("cannot access `{name}`: {error}")).with_source(error)
        }
        redb::Error::DatabaseClosed => {
            Error::new(ErrorKind::Closed, format!("the store `{name}` is closed"))
        }
        redb::Error::Corrupted(why) => {
            Error::new(ErrorKind::Corrupt, format!("`{name}` is damaged: {why}"))
        }
        error @ (redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableDoesNotExist(_)
        | redb::Error::TableIsMultimap(_)
        | redb::Error::TypeDefinitionChanged { .. }) => {
            let message = format!("`{name}` is no store of this library");
            Error::new(ErrorKind::Corrupt, message).with_source(error)
        }
        error @ redb::Error::ValueTooLarge(_) => {
            Error::new(ErrorKind::Limit, error.to_string()).with_source(error)
        }
        error => {
            Error::new(ErrorKind::Io, format!("cannot access `{name}`: {error}")).with_source(error)
        }
    }
}
