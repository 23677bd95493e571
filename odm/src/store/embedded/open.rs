//! Opens or creates a file, and checks that it is a store of this format.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use tracing::warn;

use super::{
    engine::{Engine, FileBackend, InMemoryBackend, State},
    files::{self, NewFile},
    layout::{FORMAT, FORMAT_OF_INDEXES, META, damaged},
    log::{self, Beside, Log, LogFile},
    place::{Identity, InMemory, OnDisk, StoreFile},
    schema::{FORMAT_RECORD, RECORD, Schema, format_record, read_format},
    settings::Settings,
    snapshot::Snapshot,
};
use crate::error::{Error, ErrorKind, Result};

/// The location of the data.
pub(super) enum Place {
    File(PathBuf),
    Memory,
    #[cfg(test)]
    Disk(super::tests::disk::Disk),
}

/// An open store.
pub(super) struct Opened {
    pub(super) engine: Engine,
    pub(super) file: Box<dyn StoreFile>,
    pub(super) log: Option<Log>,
    pub(super) newest: Arc<Snapshot>,
}

/// The open file of a store, and where it and its log are.
struct Location {
    engine: Engine,
    file: Box<dyn StoreFile>,
    /// `None` in memory.
    log: Option<Box<dyn LogFile>>,
    name: Arc<str>,
}

/// Opens the store at a place, and reads its newest state.
pub(super) fn open(place: Place, settings: Settings) -> Result<Opened> {
    let cache_size = settings.cache_size;
    let Location {
        mut engine,
        file,
        log,
        name,
    } = match place {
        Place::File(path) => Location::of_file(&path, cache_size)?,
        Place::Memory => {
            let name: Arc<str> = "memory".into();
            let memory = Arc::new(InMemoryBackend::new());
            Location {
                engine: Engine::open(memory, name.clone(), cache_size)?,
                file: Box::new(InMemory),
                log: None,
                name,
            }
        }
        #[cfg(test)]
        Place::Disk(disk) => {
            let name: Arc<str> = "test".into();
            Location {
                engine: Engine::open(disk.file(), name.clone(), cache_size)?,
                file: Box::new(disk.clone()),
                log: Some(Box::new(disk)),
                name,
            }
        }
    };
    initialize(&mut engine, &name)?;
    let log = match log {
        Some(log) => Some(recover(&mut engine, log, settings.log_size, &name)?),
        None => None,
    };
    if settings.check {
        engine.check()?;
    }
    let base = engine.newest()?;
    let schema = Arc::new(stored_schema(&base)?);
    let settings = Arc::new(settings);
    let newest = Arc::new(Snapshot {
        base,
        schema,
        settings,
    });
    Ok(Opened {
        engine,
        file,
        log,
        newest,
    })
}

/// Opens the log, and makes its commits durable in the engine.
fn recover(engine: &mut Engine, file: Box<dyn LogFile>, max_len: u64, name: &str) -> Result<Log> {
    let named = engine.newest()?.get(META, log::RECORD)?;
    let (mut log, recovered) = Log::open(file, max_len, name, named.as_deref())?;
    drop(named);
    if log.file().is_some() {
        warn!(
            store = name,
            units = recovered.units,
            "the store was not closed: applying the units of its log"
        );
        let applied = log.checkpoint(engine, &recovered.changes);
        applied.inspect_err(|error| engine.refuse_writes(error))?;
    }
    Ok(log)
}

/// The stored schema.
pub(super) fn stored_schema(base: &State) -> Result<Schema> {
    match base.get(META, RECORD)? {
        Some(record) => Schema::decode(&record),
        None => Ok(Schema::default()),
    }
}

/// Checks the version of the format, which is the first record of a new store.
fn initialize(engine: &mut Engine, name: &str) -> Result<()> {
    let base = engine.newest()?;
    let Some(record) = base.get(META, FORMAT_RECORD)? else {
        if !base.trees()?.is_empty() {
            return Err(damaged(format_args!("`{name}` has no format version")));
        }
        drop(base);
        let record = format_record(FORMAT)?;
        return engine.commit(
            [(META, FORMAT_RECORD, Some(record.as_slice()))].into_iter(),
            true,
        );
    };
    match read_format(&record) {
        Some(FORMAT | FORMAT_OF_INDEXES) => Ok(()),
        Some(other) => Err(Error::new(
            ErrorKind::Corrupt,
            format!(
                "format {other} of `{name}` is not supported: this library reads formats {FORMAT} and {FORMAT_OF_INDEXES}"
            ),
        )),
        None => Err(damaged(format_args!(
            "the format version of `{name}` cannot be read"
        ))),
    }
}

impl Location {
    fn of_file(path: &Path, cache_size: usize) -> Result<Location> {
        let name: Arc<str> = path.display().to_string().into();
        let cannot_open = |error| cannot("open", &name, error);
        let (engine, identity) = loop {
            let file = existing(path, &name, cache_size)?;
            if let Some(locked) = lock(file, path, &name, cache_size)? {
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
            engine,
            file: Box::new(OnDisk::new(place, identity)),
            log: Some(Box::new(log)),
            name,
        })
    }
}

/// Opens the engine on a file, which locks it, unless the path does not lead to it any more.
///
/// Another process can have compacted the store, and ended, since the file was opened: nobody would find what is written
/// to this one.
pub(super) fn lock(
    file: File,
    path: &Path,
    name: &Arc<str>,
    cache_size: usize,
) -> Result<Option<(Engine, Identity)>> {
    let cannot_open = |error| cannot("open", name, error);
    let identity = Identity::of(&file.metadata().map_err(cannot_open)?);
    let engine = open_backend(file, name, cache_size)?;
    let is_named = identity.is_at(path).map_err(cannot_open)?;
    Ok(is_named.then_some((engine, identity)))
}

/// Opens the file of a store, and creates one if there is none.
fn existing(path: &Path, name: &Arc<str>, cache_size: usize) -> Result<File> {
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
    create(path, name, cache_size)?;
    open()?.ok_or_else(|| cannot("open", name, io::ErrorKind::NotFound.into()))
}

fn open_backend(file: File, name: &Arc<str>, cache_size: usize) -> Result<Engine> {
    let backend = FileBackend::new(file).map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot open `{name}`: {error}")).with_source(error)
    })?;
    Engine::open(Arc::new(backend), name.clone(), cache_size)
}

/// Creates a new store beside its place, and moves it there when it is complete.
fn create(path: &Path, name: &Arc<str>, cache_size: usize) -> Result<()> {
    let (new, file) = NewFile::beside(path).map_err(|error| cannot("create", name, error))?;
    let mut engine = open_backend(file, name, cache_size)?;
    initialize(&mut engine, name)?;
    drop(engine);
    match new.put_in_place() {
        // Another process has created the store meanwhile.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created.map_err(|error| cannot("create", name, error)),
    }
}

#[cold]
fn cannot(what: &str, name: &str, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot {what} `{name}`: {error}")).with_source(error)
}
