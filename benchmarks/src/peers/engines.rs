//! The compared engines, and their files.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use anyhow::Context;
use clap::ValueEnum;

#[cfg(feature = "surrealdb")]
use super::surreal::{self, SurrealDb};
#[cfg(feature = "turso")]
use super::turso::{self, Turso};
use super::{
    library::{self, Library},
    raw_redb::{self, RawRedb},
    sqlite::{self, Place, Sqlite},
    system::System,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Engine {
    Odm,
    Redb,
    Rusqlite,
    #[cfg(feature = "surrealdb")]
    Surrealdb,
    #[cfg(feature = "turso")]
    Turso,
}

/// The cost of making the file of an engine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loaded {
    pub(super) seconds: f64,
    pub(super) bytes: u64,
}

impl Engine {
    /// The engines of the whole report.
    pub(super) const USUAL: [Engine; 3] = [Engine::Odm, Engine::Redb, Engine::Rusqlite];

    /// The edition of the base files: files of another edition are loaded again.
    const EDITION: u32 = 1;

    pub(super) fn name(self) -> &'static str {
        match self {
            Engine::Odm => "odm",
            Engine::Redb => "redb",
            Engine::Rusqlite => "SQLite",
            #[cfg(feature = "surrealdb")]
            Engine::Surrealdb => "SurrealDB",
            #[cfg(feature = "turso")]
            Engine::Turso => "Turso",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Engine::Odm => "odm",
            Engine::Redb => "redb",
            Engine::Rusqlite => "sqlite",
            #[cfg(feature = "surrealdb")]
            Engine::Surrealdb => "surrealkv",
            #[cfg(feature = "turso")]
            Engine::Turso => "turso",
        }
    }

    fn file(self, folder: &Path, name: &str) -> PathBuf {
        folder.join(format!("{name}.{}", self.extension()))
    }

    fn base(self, folder: &Path) -> PathBuf {
        self.file(folder, "base")
    }

    /// The path of the copy of the base file that [`open`](Engine::open) gets.
    pub(super) fn copy(self, folder: &Path) -> PathBuf {
        self.file(folder, "run")
    }

    /// The path of the copy for the second system with this engine.
    fn second_copy(self, folder: &Path) -> PathBuf {
        self.file(folder, "run-blocking")
    }

    /// Makes the base file, unless it exists.
    pub(super) async fn load(self, folder: &Path) -> anyhow::Result<Loaded> {
        let base = self.base(folder);
        // Written once the base file is complete: its edition, and the seconds that it took.
        let record = base.with_added_extension("loaded");
        let recorded = fs::read_to_string(&record).unwrap_or_default();
        if let Some((edition, seconds)) = recorded.trim().split_once(' ')
            && edition == Self::EDITION.to_string()
        {
            return Ok(Loaded {
                seconds: seconds.parse().context("the record of a base file")?,
                bytes: bytes(&base)?,
            });
        }
        remove(&base)?;
        let start = Instant::now();
        match self {
            Engine::Odm => library::load(&base).await?,
            Engine::Redb => raw_redb::load(&base)?,
            Engine::Rusqlite => sqlite::load(&base)?,
            #[cfg(feature = "surrealdb")]
            Engine::Surrealdb => surreal::load(&base).await?,
            #[cfg(feature = "turso")]
            Engine::Turso => turso::load(&base).await?,
        }
        let seconds = start.elapsed().as_secs_f64();
        eprintln!("{}: loaded in {seconds:.1} s", self.name());
        fs::write(record, format!("{} {seconds:.2}\n", Self::EDITION))?;
        Ok(Loaded {
            seconds,
            bytes: bytes(&base)?,
        })
    }

    /// Makes a new copy of the base file, and waits until it is on the disk.
    pub(super) fn make_copy(self, folder: &Path, copy: &Path) -> anyhow::Result<()> {
        remove(copy)?;
        for (from, to) in all_of(&self.base(folder)).zip(all_of(copy)) {
            if fs::exists(&from)? {
                copy_to_disk(&from, &to)?;
            }
        }
        Ok(())
    }

    pub(super) fn remove_copies(self, folder: &Path) -> anyhow::Result<()> {
        remove(&self.copy(folder))?;
        remove(&self.second_copy(folder))
    }

    /// Opens one file.
    pub(super) async fn open(self, path: &Path) -> anyhow::Result<Arc<dyn System>> {
        Ok(match self {
            Engine::Odm => Arc::new(Library::open(path).await?),
            Engine::Redb => Arc::new(RawRedb::open(path)?),
            Engine::Rusqlite => Arc::new(Sqlite::open(path, Place::Inline)?),
            #[cfg(feature = "surrealdb")]
            Engine::Surrealdb => Arc::new(SurrealDb::open(path).await?),
            #[cfg(feature = "turso")]
            Engine::Turso => Arc::new(Turso::open(path).await?),
        })
    }

    /// Opens all systems with this engine, each with a new copy of the base file.
    pub(super) async fn open_all(self, folder: &Path) -> anyhow::Result<Vec<Arc<dyn System>>> {
        let copy = self.copy(folder);
        self.make_copy(folder, &copy)?;
        let mut systems = vec![self.open(&copy).await?];
        if self == Engine::Rusqlite {
            let copy = self.second_copy(folder);
            self.make_copy(folder, &copy)?;
            systems.push(Arc::new(Sqlite::open(&copy, Place::SpawnBlocking)?));
        }
        Ok(systems)
    }
}

/// The paths of a database: of its file or folder, and of the files that the library and SQLite may have beside it.
fn all_of(path: &Path) -> impl Iterator<Item = PathBuf> {
    let path = path.as_os_str().to_owned();
    ["", ".log", "-wal", "-shm"].into_iter().map(move |suffix| {
        let mut path = path.clone();
        path.push(suffix);
        path.into()
    })
}

/// The size of all files of a database.
fn bytes(path: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for path in all_of(path) {
        if fs::exists(&path)? {
            bytes += bytes_of(&path)?;
        }
    }
    Ok(bytes)
}

fn bytes_of(path: &Path) -> std::io::Result<u64> {
    if !path.is_dir() {
        return Ok(fs::metadata(path)?.len());
    }
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        bytes += bytes_of(&entry?.path())?;
    }
    Ok(bytes)
}

/// Copies a file, or a folder, and waits until the copy is on the disk.
fn copy_to_disk(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        fs::copy(from, to)?;
        return File::open(to)?.sync_all();
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_to_disk(&entry.path(), &to.join(entry.file_name()))?;
    }
    File::open(to)?.sync_all()
}

/// Removes all files of a database.
fn remove(path: &Path) -> anyhow::Result<()> {
    for path in all_of(path) {
        if path.is_dir() {
            fs::remove_dir_all(&path)?;
        } else if fs::exists(&path)? {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
