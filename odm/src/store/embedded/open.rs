//! Opens or creates a file, and checks that it is a store of this format.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    engine::{Backend, Engine, FileBackend, State},
    layout::{FORMAT, META, damaged},
    schema::{RECORD, Schema, format_record, read_format},
    settings::Settings,
    snapshot::Snapshot,
};
use crate::error::{Error, ErrorKind, Result};

/// The name of the record of the format.
const FORMAT_RECORD: &[u8] = b"format";

/// The location of the data.
pub(super) enum Place {
    File(PathBuf),
    Backend(
        Box<dyn FnOnce(Arc<str>, usize) -> Result<Engine> + Send>,
        Arc<str>,
    ),
}

impl Place {
    pub(super) fn backend(backend: impl Backend, name: &str) -> Place {
        Place::Backend(
            Box::new(move |name, cache| Engine::open(backend, name, cache)),
            name.into(),
        )
    }
}

/// Opens the store at a place, and reads its newest state.
pub(super) fn open(place: Place, settings: Settings) -> Result<(Engine, Arc<Snapshot>)> {
    let (mut engine, name) = match place {
        Place::File(path) => {
            let name: Arc<str> = path.display().to_string().into();
            (open_file(&path, &name, settings.cache_size)?, name)
        }
        Place::Backend(open, name) => (open(name.clone(), settings.cache_size)?, name),
    };
    initialize(&mut engine, &name)?;
    if settings.check {
        engine.check()?;
    }
    let base = engine.newest()?;
    let schema = Arc::new(stored_schema(&base)?);
    let settings = Arc::new(settings);
    Ok((
        engine,
        Arc::new(Snapshot {
            base,
            schema,
            settings,
        }),
    ))
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
        let record = bson::serialize_to_vec(&format_record(FORMAT)).map_err(|error| {
            Error::new(ErrorKind::Encode, "cannot write the format version").with_source(error)
        })?;
        return engine.commit(
            [(META, FORMAT_RECORD, Some(record.as_slice()))].into_iter(),
            true,
        );
    };
    match read_format(&record) {
        Some(FORMAT) => Ok(()),
        Some(other) => Err(Error::new(
            ErrorKind::Corrupt,
            format!(
                "format {other} of `{name}` is not supported: this library reads format {FORMAT}"
            ),
        )),
        None => Err(damaged(format_args!(
            "the format version of `{name}` cannot be read"
        ))),
    }
}

fn open_file(path: &Path, name: &Arc<str>, cache_size: usize) -> Result<Engine> {
    match existing(path) {
        Ok(file) => return open_backend(file, name, cache_size),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(cannot("open", name, error)),
    }
    create(path, name, cache_size)?;
    let file = existing(path).map_err(|error| cannot("open", name, error))?;
    open_backend(file, name, cache_size)
}

fn existing(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

fn open_backend(file: File, name: &Arc<str>, cache_size: usize) -> Result<Engine> {
    let metadata = file
        .metadata()
        .map_err(|error| cannot("open", name, error))?;
    if !metadata.is_file() {
        let error = io::Error::other("it is not a file");
        return Err(cannot("open", name, error));
    }
    let backend = FileBackend::new(file).map_err(|error| {
        Error::new(ErrorKind::Io, format!("cannot open `{name}`: {error}")).with_source(error)
    })?;
    Engine::open(backend, name.clone(), cache_size)
}

/// Creates a new store beside its place, and moves it there when it is complete: a crash never leaves a
/// part of a store at that place.
fn create(path: &Path, name: &Arc<str>, cache_size: usize) -> Result<()> {
    let new = beside(path);
    let made = make(&new, name, cache_size).and_then(|()| {
        // Unlike a rename, a link never replaces a store that another process has created.
        match fs::hard_link(&new, path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(_) if path.exists() => Ok(()),
            Err(_) => fs::rename(&new, path).map_err(|error| cannot("create", name, error)),
        }
    });
    // After a rename the file is gone.
    let _ = fs::remove_file(&new);
    made?;
    sync_folder(path).map_err(|error| cannot("create", name, error))
}

fn make(new: &Path, name: &Arc<str>, cache_size: usize) -> Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options
        .open(new)
        .map_err(|error| cannot("create", name, error))?;
    let mut engine = open_backend(file, name, cache_size)?;
    initialize(&mut engine, name)
}

/// A name that no other process uses, in the same folder.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(
        ".new-{}-{}",
        std::process::id(),
        bson::oid::ObjectId::new()
    ));
    path.with_file_name(name)
}

/// Makes the name of a new file durable, as its content is.
fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cold]
fn cannot(what: &str, name: &str, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot {what} `{name}`: {error}")).with_source(error)
}
