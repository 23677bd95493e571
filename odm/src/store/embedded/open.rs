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
    pub(super) log: Option<Log>,
    pub(super) newest: Arc<Snapshot>,
}

/// Opens the store at a place, and reads its newest state.
pub(super) fn open(place: Place, settings: Settings) -> Result<Opened> {
    let cache_size = settings.cache_size;
    let (mut engine, log, name): (_, Option<Box<dyn LogFile>>, Arc<str>) = match place {
        Place::File(path) => {
            let name: Arc<str> = path.display().to_string().into();
            let engine = open_file(&path, &name, cache_size)?;
            let log = Beside::store(&path).map_err(|error| cannot("open", &name, error))?;
            (engine, Some(Box::new(log)), name)
        }
        Place::Memory => {
            let name: Arc<str> = "memory".into();
            let engine = Engine::open(InMemoryBackend::new(), name.clone(), cache_size)?;
            (engine, None, name)
        }
        #[cfg(test)]
        Place::Disk(disk) => {
            let name: Arc<str> = "test".into();
            let engine = Engine::open(disk.clone(), name.clone(), cache_size)?;
            (engine, Some(Box::new(disk)), name)
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

fn open_file(path: &Path, name: &Arc<str>, cache_size: usize) -> Result<Engine> {
    let open = || files::open(path).map_err(|error| cannot("open", name, error));
    let file = match open()? {
        Some(file) => Some(file),
        None => {
            if Beside::new_store(path).exists() {
                let message = format!(
                    "`{name}` is missing, and its log is there, which may have its last commits: put both files \
                     back together, or move the log away"
                );
                return Err(Error::new(ErrorKind::Corrupt, message));
            }
            create(path, name, cache_size)?;
            open()?
        }
    };
    match file {
        Some(file) => open_backend(file, name, cache_size),
        None => Err(cannot("open", name, io::ErrorKind::NotFound.into())),
    }
}

fn open_backend(file: File, name: &Arc<str>, cache_size: usize) -> Result<Engine> {
    let backend = FileBackend::new(file).map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot open `{name}`: {error}")).with_source(error)
    })?;
    Engine::open(backend, name.clone(), cache_size)
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
