//! The storage engine: ordered maps of bytes, the trees, with snapshots and atomic commits over all of them,
//! kept by redb.
//!
//! Each tree with entries is a table of redb.
//!
//! No other module of the store names redb, except tests that make files of their own.
//!
//! redb verifies its pages when it opens a file after a crash and on demand, not on every read, and
//! panics on some damage. Each call into it is therefore guarded: a panic becomes an error that
//! names the file.

mod error;
mod read_only;
mod retired;
mod shared;
mod shield;
mod state;
mod tables;
mod uncommitted;

use std::{
    cell::Cell,
    io, iter, mem,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
    thread,
};

use redb::{ConcurrencyMode, Database, DatabaseError, Durability, ReadableDatabase, StorageError};
use tracing::warn;

#[cfg(any(test, feature = "__test"))]
pub(super) use redb::BackendError;
pub(super) use redb::{
    StorageBackend as Backend,
    backends::{FileBackend, InMemoryBackend},
};

use self::{
    error::{failed, guard, opening},
    retired::Retired,
    shared::{Role, SharedBackend},
    shield::{Shield, Shielded},
};
pub(super) use self::{
    read_only::ReadOnlyEngine,
    state::{BaseBytes, BaseEntry, BaseRange, BaseState},
    uncommitted::Uncommitted,
};
use odm_store::{Error, ErrorKind, Result};

use super::layout::Tree;

/// The new value of a key of a tree, or `None` to remove the key.
pub(super) type KeyChange<'a> = (Tree, &'a [u8], Option<&'a [u8]>);

/// An open database.
pub(super) struct Engine {
    database: Database,
    /// The greatest number of a tree that has, or had, entries.
    last_tree: Tree,
    shield: Arc<Shield>,
    backend: Arc<dyn Backend>,
    name: Arc<str>,
    /// The place for the database when another one replaces it, shared by all its states.
    retired: Arc<Retired>,
}

/// The end of the writes of an engine.
pub(super) struct WriteStop(Arc<Shield>);

impl WriteStop {
    /// Makes every later write fail with this error, and leaves the file as it is.
    pub(super) fn refuse(&self, cause: &Error) {
        self.0.refuse(io::Error::other(cause.to_string()));
    }
}

/// The size of the cache of a database that is only read, in bytes.
const CHECK_CACHE: usize = 16 << 20;

impl Engine {
    /// Opens the database in a backend, and creates one if the backend is empty. Messages contain
    /// `name`.
    pub(super) fn open(
        backend: Arc<dyn Backend>,
        name: Arc<str>,
        cache_size: usize,
    ) -> Result<Engine> {
        let shield = Arc::new(Shield::default());
        let engine = Engine::open_as(Role::Owner, backend, name, cache_size, shield)?;
        match engine.check_writable() {
            Ok(()) => Ok(engine),
            Err(error) => {
                engine.leave();
                Err(error)
            }
        }
    }

    /// Drops the database as a process that is killed does: if its file is refused, or must not be written.
    pub(super) fn leave(self) {
        leave(self.database);
    }

    /// Locks a backend, and reads the newest state in it, without a change: the writes of the opening go to memory. The backend stays
    /// locked for the next engine that opens it.
    pub(super) fn look<T>(
        backend: Arc<dyn Backend>,
        name: &Arc<str>,
        read: impl FnOnce(&BaseState) -> Result<T>,
    ) -> Result<T> {
        let shield = Arc::new(Shield::default());
        shield.refuse(io::ErrorKind::ReadOnlyFilesystem.into());
        let engine = Engine::open_as(Role::First, backend, name.clone(), CHECK_CACHE, shield)?;
        let found = engine.newest().and_then(|state| read(&state));
        engine.leave();
        found
    }

    fn open_as(
        role: Role,
        backend: Arc<dyn Backend>,
        name: Arc<str>,
        cache_size: usize,
        shield: Arc<Shield>,
    ) -> Result<Engine> {
        let mut builder = Database::builder();
        builder.set_cache_size(cache_size);
        let repaired = name.clone();
        let warned = Cell::new(role != Role::Owner);
        builder.set_repair_callback(move |_| {
            if !warned.replace(true) {
                warn!(
                    store = &*repaired,
                    "the store was not closed: recovering its last commit"
                );
            }
        });
        let database = guard(&name, || {
            let opened = with_mode(|mode| {
                let shared = SharedBackend::new(backend.clone(), role);
                builder.set_concurrency_mode(mode);
                builder.create_with_backend(Shielded::new(shared, shield.clone()))
            });
            opened.map_err(|error| opening(&name, error))
        })?;
        let mut engine = Engine {
            database,
            last_tree: 0,
            shield,
            backend,
            retired: Arc::new(Retired::new(name.clone())),
            name,
        };
        match engine.newest().and_then(|newest| newest.trees()) {
            Ok(trees) => {
                engine.last_tree = trees.last().copied().unwrap_or_default();
                Ok(engine)
            }
            Err(error) => {
                engine.leave();
                Err(error)
            }
        }
    }

    /// Returns the error of the first write that the disk refused, if there was one. No later write reaches the file.
    pub(super) fn check_writable(&self) -> Result<()> {
        check_writable(&self.shield, &self.name)
    }

    /// The newest committed state. It stays readable, unchanged, while later commits happen.
    pub(super) fn newest(&self) -> Result<BaseState> {
        guard(&self.name, || {
            let transaction = self
                .database
                .begin_read()
                .map_err(|error| failed(&self.name, error))?;
            Ok(BaseState::committed(
                transaction,
                self.name.clone(),
                self.last_tree,
                self.retired.clone(),
            ))
        })
    }

    /// The name of the store, for messages.
    pub(super) fn name(&self) -> Arc<str> {
        self.name.clone()
    }

    /// The length of the file.
    pub(super) fn len(&self) -> Result<u64> {
        let len = self.backend.len();
        len.map_err(|error| failed(&self.name, redb::Error::Io(error)))
    }

    /// Puts another database in the place of this one. The states of this one stay readable, and the last of them closes it; its file is
    /// not written any more.
    pub(super) fn replace_by(&mut self, new: Engine) {
        let why = "another file has taken its place";
        self.shield.refuse(io::Error::other(why));
        let Engine {
            database, retired, ..
        } = mem::replace(self, new);
        retired.keep(database);
    }

    /// Makes every later write fail with this error, and leaves the file as it is.
    pub(super) fn refuse_writes(&self, cause: &Error) {
        self.write_stop().refuse(cause);
    }

    /// Ends the writes, also while another thread has the engine.
    pub(super) fn write_stop(&self) -> WriteStop {
        WriteStop(self.shield.clone())
    }

    /// Applies all changes, or none. The changes of a tree come one after another, each key once; ascending order is fastest.
    ///
    /// With `durable`, this commit and all before it survive a crash once this returns. Without it, a crash undoes this commit and all
    /// later ones up to the next durable one. After an error it is unknown whether the changes are on disk, and the engine must not be
    /// written to again; its states can still be read.
    pub(super) fn commit<'a>(
        &mut self,
        mut changes: impl Iterator<Item = KeyChange<'a>>,
        durable: bool,
    ) -> Result<()> {
        self.commit_with(&mut changes, durable, durable)
    }

    /// Applies the last changes before the engine is dropped, durably. The contract is that of
    /// [`commit`](Engine::commit).
    ///
    /// It does not store which pages are free: redb's own commit does, when the database is closed. Two such commits in a row, an open
    /// state, or earlier changes that were not durable leave lists of freed pages in the file until the next commit. If these are damaged
    /// later, redb aborts the process when it reads them: it panics while a panic unwinds. So the last two commits before the close are of
    /// this kind.
    pub(super) fn commit_last<'a>(
        &mut self,
        mut changes: impl Iterator<Item = KeyChange<'a>>,
    ) -> Result<()> {
        self.commit_with(&mut changes, true, false)
    }

    fn commit_with<'a>(
        &mut self,
        changes: &mut dyn Iterator<Item = KeyChange<'a>>,
        durable: bool,
        quick_repair: bool,
    ) -> Result<()> {
        self.check_writable()?;
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
            transaction.set_quick_repair(quick_repair);
            let last_tree = tables::write(&transaction, changes).map_err(fail)?;
            self.last_tree = self.last_tree.max(last_tree);
            transaction.commit().map_err(|e| fail(e.into()))
        })?;
        // The shield hides errors of the disk from redb, so a failed commit is detected here.
        self.check_writable()
    }

    /// Opens a transaction. Until it ends, there can be no other commit, and it must end by
    /// [`commit_open`](Engine::commit_open) or [`abort`](Engine::abort).
    pub(super) fn begin(&mut self) -> Result<Uncommitted> {
        self.check_writable()?;
        let transaction = guard(&self.name, || {
            let begun = self.database.begin_write();
            let mut transaction = begun.map_err(|error| failed(&self.name, error))?;
            transaction.set_quick_repair(true);
            Ok(transaction)
        })?;
        Ok(Uncommitted::new(
            transaction,
            self.shield.clone(),
            self.name.clone(),
        ))
    }

    /// Commits an open transaction durably. The contract is that of [`commit`](Engine::commit).
    pub(super) fn commit_open(&mut self, transaction: &Uncommitted) -> Result<()> {
        if let Err(error) = self.check_writable() {
            // The pages of the transaction are not on the disk. Whether the abort succeeds or not, no more writes are possible.
            let _ = self.abort(transaction);
            return Err(error);
        }
        self.last_tree = self.last_tree.max(transaction.last_tree());
        let transaction = transaction.take()?;
        guard(&self.name, || {
            transaction
                .commit()
                .map_err(|error| failed(&self.name, error))
        })?;
        self.check_writable()
    }

    /// Undoes an open transaction. After an error the engine must not be written to again.
    pub(super) fn abort(&mut self, transaction: &Uncommitted) -> Result<()> {
        let transaction = transaction.take()?;
        guard(&self.name, || {
            transaction
                .abort()
                .map_err(|error| failed(&self.name, error))
        })?;
        self.check_writable()
    }

    /// Closes the database. Its file is complete then, and durable as far as the backend's syncs are.
    pub(super) fn close(mut self) -> Result<()> {
        // Two of these: see `commit_last`.
        self.commit_last(iter::empty())?;
        self.commit_last(iter::empty())?;
        self.end()
    }

    /// Drops the database after its last commits: see `commit_last`. After an error all of them are durable, and the file counts as not
    /// closed.
    pub(super) fn end(self) -> Result<()> {
        let Engine {
            database,
            shield,
            name,
            ..
        } = self;
        guard(&name, || {
            drop(database);
            Ok(())
        })?;
        check_writable(&shield, &name)
    }

    /// Moves pages from the end of the file to free places before it, and cuts the file. No state may be open meanwhile.
    pub(super) fn compact(&mut self) -> Result<()> {
        let name = self.name.clone();
        guard(&name, || {
            let compacted = self.database.compact();
            compacted.map_err(|error| failed(&name, error))
        })?;
        self.check_writable()
    }

    /// Verifies all checksums. No state may be open meanwhile.
    pub(super) fn check(&mut self) -> Result<()> {
        let name = self.name.clone();
        let sound = guard(&name, || {
            self.database
                .check_integrity()
                .map_err(|error| opening(&name, error))
        })?;
        self.check_writable()?;
        match sound {
            true => Ok(()),
            false => Err(damaged(&name, "checksums do not match")),
        }
    }

    /// Verifies all checksums of the last commit, which must be durable, by the bytes of the file and not of the memory. Writes nothing,
    /// and states may be open.
    pub(super) fn check_file(&self) -> Result<()> {
        self.check_writable()?;
        let name = &self.name;
        // The shield keeps in memory the changes that opening and closing the file would make.
        let shield = Arc::new(Shield::default());
        shield.refuse(io::ErrorKind::ReadOnlyFilesystem.into());
        let backend = Shielded::new(
            SharedBackend::new(self.backend.clone(), Role::Guest),
            shield,
        );
        let is_sound = guard(name, || {
            let mut builder = Database::builder();
            builder.set_cache_size(CHECK_CACHE);
            // The file is marked as open, but has all that redb needs to open it nevertheless. If redb had to search for a complete commit,
            // the newest one would be incomplete.
            builder.set_repair_callback(redb::RepairSession::abort);
            let opened = builder.create_with_backend(backend);
            let mut database = opened.map_err(|error| match error {
                DatabaseError::RepairAborted => damaged(name, "its last commit is not whole"),
                error => opening(name, error),
            })?;
            let is_sound = database.check_integrity();
            leave(database);
            is_sound.map_err(|error| match error {
                DatabaseError::Storage(StorageError::Corrupted(why)) => {
                    damaged(name, &format!("checksums do not match ({why})"))
                }
                error => opening(name, error),
            })
        })?;
        match is_sound {
            true => Ok(()),
            false => Err(damaged(name, "checksums do not match")),
        }
    }
}

/// Opens a database that one process writes while others read it; for one process alone if the backend has no locks of ranges, as in memory.
fn with_mode<D>(
    mut open: impl FnMut(ConcurrencyMode) -> std::result::Result<D, DatabaseError>,
) -> std::result::Result<D, DatabaseError> {
    match open(ConcurrencyMode::SingleWriter) {
        Err(DatabaseError::Storage(StorageError::Unsupported)) => {
            open(ConcurrencyMode::ExclusiveWriter)
        }
        opened => opened,
    }
}

/// Drops a database without the commit that redb makes at its end. In a damaged file, this commit can panic while a panic unwinds, which
/// aborts the process.
fn leave(database: Database) {
    // While a panic unwinds, redb writes nothing. If panics abort the process, this way is not available.
    if cfg!(panic = "unwind") {
        let unwound: thread::Result<()> = catch_unwind(AssertUnwindSafe(|| {
            let _database = database;
            // Unlike a panic, this calls no panic hook.
            resume_unwind(Box::new(()))
        }));
        drop(unwound);
    }
}

#[cold]
fn damaged(name: &str, why: &str) -> Error {
    let message = format!("`{name}` is damaged: {why}");
    Error::new(ErrorKind::Corrupt, message)
}

fn check_writable(shield: &Shield, name: &str) -> Result<()> {
    match shield.failure() {
        None => Ok(()),
        Some(cause) => {
            let message = format!("cannot write to `{name}`: {cause}");
            Err(Error::new(ErrorKind::Io, message).with_source(cause))
        }
    }
}
