//! Opens or creates a file, and checks that it is a store of this format.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use odm_store::{Error, ErrorKind, Result};
use tracing::warn;

use super::{
    engine::{Backend, BaseState, Engine, FileBackend, InMemoryBackend, ReadOnlyEngine},
    files::{self, NewFile},
    layout::{FORMAT, FORMAT_OF_TYPES, META, damaged},
    log::{self, Beside, Log, LogFile, Recovered, Recovery},
    memtable::{Memtable, Memtables},
    overlay::Overlay,
    place::{Identity, InMemory, OnDisk, StoreFile},
    salvage::LogSalvage,
    schema::{FORMAT_RECORD, RECORD, Schema, format_record, read_format},
    settings::Settings,
    snapshot::Snapshot,
};

/// The size of the cache of a new store, in bytes. The store has one record.
const NEW_CACHE: usize = 1 << 20;

/// The location of the data.
pub(super) enum Place {
    File(PathBuf),
    Memory,
    #[cfg(any(test, feature = "__test"))]
    Disk(super::disk::Disk),
}

/// An open store.
pub(super) struct Opened {
    pub(super) engine: Engine,
    pub(super) file: Box<dyn StoreFile>,
    pub(super) log: Option<Log>,
    /// The changes that a crash has left in the log.
    pub(super) memtable: Memtable,
    /// Those before, which go into the engine first.
    pub(super) frozen: Option<FrozenMemtable>,
    pub(super) newest: Arc<Snapshot>,
}

/// The changes of a checkpoint that was not made before a crash.
pub(super) struct FrozenMemtable {
    pub(super) tables: Memtables,
    pub(super) bytes: usize,
    /// The record of the generation that begins with the checkpoint.
    pub(super) named: Vec<u8>,
}

/// A log, and the record that names it.
type NamedLog = (Box<dyn LogFile>, Option<Vec<u8>>);

/// The locked file of a store, and where it and its log are.
struct Location {
    backend: Arc<dyn Backend>,
    file: Box<dyn StoreFile>,
    /// The log, and the record in the file that names it. `None` in memory.
    log: Option<NamedLog>,
    name: Arc<str>,
}

/// Opens the store at a place, and reads its newest state. Returns the findings in its log as well.
pub(super) fn open(place: Place, settings: Settings) -> Result<(Opened, LogSalvage)> {
    let Location {
        backend,
        file,
        log,
        name,
    } = match place {
        Place::File(path) => Location::of_file(&path)?,
        Place::Memory => Location {
            backend: Arc::new(InMemoryBackend::new()),
            file: Box::new(InMemory),
            log: None,
            name: "memory".into(),
        },
        #[cfg(any(test, feature = "__test"))]
        Place::Disk(disk) => {
            let (backend, name) = (disk.file(), "test".into());
            let named = look(backend.clone(), &name)?;
            Location {
                backend,
                file: Box::new(disk.clone()),
                log: Some((Box::new(disk), named)),
                name,
            }
        }
    };
    // Before the engine can write to the file.
    let log = log.map(|(log, named)| judge(log, named.as_deref(), &settings, &name));
    let log = log.transpose()?;
    let mut engine = Engine::open(backend, name.clone(), settings.cache_size)?;
    let read = read(&mut engine, log, settings, &name);
    let ReadStore {
        log,
        found,
        memtable,
        frozen,
        newest,
    } = match read {
        Ok(read) => read,
        Err(error) => {
            engine.leave();
            return Err(error);
        }
    };
    let opened = Opened {
        engine,
        file,
        log,
        memtable,
        frozen,
        newest,
    };
    Ok((opened, found))
}

/// The parts of an opened store, except its engine and its file.
struct ReadStore {
    log: Option<Log>,
    found: LogSalvage,
    memtable: Memtable,
    frozen: Option<FrozenMemtable>,
    newest: Arc<Snapshot>,
}

/// Recovers a store by its log, and reads its newest state.
fn read(
    engine: &mut Engine,
    log: Option<(Log, Recovery, LogSalvage)>,
    settings: Settings,
    name: &str,
) -> Result<ReadStore> {
    initialize(engine, name)?;
    let (log, found, recovered) = match log {
        Some((mut log, recovery, found)) => {
            let recovered = recover(engine, &mut log, recovery, name)?;
            (Some(log), found, recovered)
        }
        None => (None, LogSalvage::default(), Recovered::default()),
    };
    let Recovered { first, last } = recovered;
    let record_in = |changes: &Overlay| changes.get(META, RECORD).cloned().flatten();
    let in_first = || first.as_ref().and_then(|(changes, _)| record_in(changes));
    let record = record_in(&last).or_else(in_first);
    let mut commit = 0;
    let mut table = |changes: &Overlay| {
        let mut table = Memtable::default();
        if !changes.is_empty() {
            commit += 1;
            table.add(commit, changes);
        }
        (table, commit)
    };
    let frozen = first.map(|(changes, named)| {
        let (table, commit) = table(&changes);
        FrozenMemtable {
            tables: table.state(&Memtables::default(), commit),
            bytes: table.bytes(),
            named,
        }
    });
    let (memtable, commit) = table(&last);
    if settings.check {
        engine.check()?;
    }
    let base = engine.newest()?;
    let schema = match record {
        Some(record) => Schema::decode(&record)?,
        None => stored_schema(&base)?,
    };
    let before = frozen.as_ref().map(|frozen| frozen.tables.clone());
    let newest = Arc::new(Snapshot {
        base: Arc::new(base),
        memtables: memtable.state(&before.unwrap_or_default(), commit),
        schema: Arc::new(schema),
        settings: Arc::new(settings),
    });
    Ok(ReadStore {
        log,
        found,
        memtable,
        frozen,
        newest,
    })
}

/// Locks a store, and returns the record that names its log. Changes nothing.
fn look(backend: Arc<dyn Backend>, name: &Arc<str>) -> Result<Option<Vec<u8>>> {
    Engine::look(backend, name, |state| {
        has_format(state, name)?;
        let named = state.get(META, log::RECORD)?;
        Ok(named.map(|named| named.to_vec()))
    })
}

/// Reads the log, and refuses the store if the log has lost synced records, unless it is to be salvaged: then the log is copied. Changes
/// nothing else.
fn judge(
    place: Box<dyn LogFile>,
    named: Option<&[u8]>,
    settings: &Settings,
    name: &str,
) -> Result<(Log, Recovery, LogSalvage)> {
    let (log, recovery) = Log::open(place, settings.log_size, name, named)?;
    let mut found = LogSalvage {
        applied: recovery.units,
        ..LogSalvage::default()
    };
    if let Some((damage, left_out)) = &recovery.lost {
        if !settings.salvage {
            return Err(damage.clone());
        }
        found.log = log.keep(&recovery)?;
        found.left_out = *left_out;
        found.damage = Some(damage.clone());
    }
    Ok((log, recovery, found))
}

/// Returns the commits of the log for the memtables, or makes them durable in the engine.
fn recover(
    engine: &mut Engine,
    log: &mut Log,
    recovery: Recovery,
    name: &str,
) -> Result<Recovered> {
    if recovery.is_needed() {
        warn!(
            store = name,
            units = recovery.units,
            "the store was not closed: applying the units of its log"
        );
    }
    let recovered = log.recover(engine, recovery);
    recovered.inspect_err(|error| engine.refuse_writes(error))
}

/// The stored schema.
pub(super) fn stored_schema(base: &BaseState) -> Result<Schema> {
    match base.get(META, RECORD)? {
        Some(record) => Schema::decode(&record),
        None => Ok(Schema::default()),
    }
}

/// Gives a new store the version of the format, as its first record, and checks the version of another.
fn initialize(engine: &mut Engine, name: &str) -> Result<()> {
    if has_format(&engine.newest()?, name)? {
        return Ok(());
    }
    let record = format_record(FORMAT)?;
    engine.commit(
        [(META, FORMAT_RECORD, Some(record.as_slice()))].into_iter(),
        true,
    )
}

/// Whether there is a store, whose format is known then. A new file is empty.
pub(super) fn has_format(state: &BaseState, name: &str) -> Result<bool> {
    let Some(record) = state.get(META, FORMAT_RECORD)? else {
        return match state.trees()?.is_empty() {
            true => Ok(false),
            false => Err(damaged(format_args!("`{name}` has no format version"))),
        };
    };
    match read_format(&record) {
        Some(FORMAT..=FORMAT_OF_TYPES) => Ok(true),
        Some(other) => Err(Error::new(
            ErrorKind::Corrupt,
            format!(
                "format {other} of `{name}` is not supported: this library reads formats {FORMAT} to {FORMAT_OF_TYPES}; open it with \
                 the version of the library that wrote it"
            ),
        )),
        None => Err(damaged(format_args!(
            "the format version of `{name}` cannot be read"
        ))),
    }
}

impl Location {
    fn of_file(path: &Path) -> Result<Location> {
        let name: Arc<str> = path.display().to_string().into();
        let cannot_open = |error| cannot("open", &name, error);
        let locked = loop {
            if let Some(locked) = lock(existing(path, &name)?, path, &name)? {
                break locked;
            }
        };
        let place = path.canonicalize().map_err(cannot_open)?;
        let log = Beside::new(&place);
        for place in [&*place, log.path()] {
            if let Err(error) = files::remove_leftovers(place) {
                warn!(
                    store = &*name,
                    "files that a crash has left could not be removed: {error}"
                );
            }
        }
        Ok(Location {
            backend: locked.backend,
            file: Box::new(OnDisk::new(place, locked.identity)),
            log: Some((Box::new(log), locked.named)),
            name,
        })
    }
}

/// The locked file of a store.
pub(super) struct Locked {
    backend: Arc<dyn Backend>,
    identity: Identity,
    /// The record that names the log.
    named: Option<Vec<u8>>,
}

/// Locks the file of a store, unless the path does not lead to it any more.
///
/// Another process can have compacted the store, and ended, since the file was opened: writes to this file would be lost.
pub(super) fn lock(file: File, path: &Path, name: &Arc<str>) -> Result<Option<Locked>> {
    let cannot_open = |error| cannot("open", name, error);
    let identity = Identity::of(&file.metadata().map_err(cannot_open)?);
    let backend = backend_of(file, name)?;
    let named = look(backend.clone(), name)?;
    let is_named = identity.is_at(path).map_err(cannot_open)?;
    Ok(is_named.then_some(Locked {
        backend,
        identity,
        named,
    }))
}

/// The file of a store, opened to be read.
pub(super) struct ReadOnlyFile {
    pub(super) engine: ReadOnlyEngine,
    identity: Identity,
}

impl ReadOnlyFile {
    pub(super) fn open(path: &Path, name: &Arc<str>, cache_size: usize) -> Result<ReadOnlyFile> {
        let cannot_open = |error| cannot("open", name, error);
        let file = File::open(path).map_err(cannot_open)?;
        let identity = Identity::of(&file.metadata().map_err(cannot_open)?);
        let engine = ReadOnlyEngine::open(backend_of(file, name)?, name.clone(), cache_size)?;
        Ok(ReadOnlyFile { engine, identity })
    }

    /// Whether a path leads to this file. After a compaction it leads to a new one.
    pub(super) fn is_at(&self, path: &Path, name: &str) -> Result<bool> {
        let is_at = self.identity.is_at(path);
        is_at.map_err(|error| cannot("open", name, error))
    }
}

/// Opens the file of a store, and creates it if it is missing.
fn existing(path: &Path, name: &Arc<str>) -> Result<File> {
    let open = || files::open(path).map_err(|error| cannot("open", name, error));
    if let Some(file) = open()? {
        return Ok(file);
    }
    if Beside::new(path).exists() {
        let message = format!(
            "`{name}` is missing, and its log is there, which may have its last commits: put both files \
             back together, or move the log away"
        );
        return Err(Error::new(ErrorKind::Corrupt, message));
    }
    create(path, name)?;
    open()?.ok_or_else(|| cannot("open", name, io::ErrorKind::NotFound.into()))
}

fn backend_of(file: File, name: &str) -> Result<Arc<dyn Backend>> {
    let backend = FileBackend::new(file);
    let backend = backend.map_err(|error| cannot("open", name, io::Error::other(error)))?;
    Ok(Arc::new(backend))
}

/// Creates a new store in a temporary file beside its place, and renames the file when it is complete.
fn create(path: &Path, name: &Arc<str>) -> Result<()> {
    let cannot_create = |error| cannot("create", name, error);
    files::refuse_own(path).map_err(cannot_create)?;
    let (new, file) = NewFile::beside(path).map_err(cannot_create)?;
    let mut engine = Engine::open(backend_of(file, name)?, name.clone(), NEW_CACHE)?;
    initialize(&mut engine, name)?;
    drop(engine);
    match new.put_in_place() {
        // Another process has created the store meanwhile.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created.map_err(cannot_create),
    }
}

#[cold]
fn cannot(what: &str, name: &str, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot {what} `{name}`: {error}")).with_source(error)
}
