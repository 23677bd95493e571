//! The place of a log's file.

use std::{
    fs::{self, File},
    io::{self, Write},
    ops::Bound,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    engine::{Backend, FileBackend},
    files::{self, NewFile},
};

/// The place of a log: a name, which may have a file.
pub(in super::super) trait LogFile: Send {
    /// The name, for messages.
    fn name(&self) -> String;

    /// Opens and locks the file, if it exists.
    fn open(&self) -> io::Result<Option<Arc<dyn Backend>>>;

    /// Makes and locks a file with this content. Both its content and its name are durable when this returns, and a crash leaves a whole
    /// file or no file. An existing file is an error.
    fn create(&self, content: &[u8]) -> io::Result<Arc<dyn Backend>>;

    /// Makes another file beside it with this content, durably, under a name that marks it as damaged. Returns its path.
    fn keep(&self, content: &[u8]) -> io::Result<PathBuf>;

    /// Removes the file, durably.
    fn remove(&self) -> io::Result<()>;
}

/// A file beside the store's file.
pub(in super::super) struct Beside(PathBuf);

impl Beside {
    /// The log of the store with this path, which has no links in it: several paths to one store have one log.
    pub(in super::super) fn new(path: &Path) -> Beside {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".log");
        Beside(path.with_file_name(name))
    }

    pub(in super::super) fn path(&self) -> &Path {
        &self.0
    }

    pub(in super::super) fn exists(&self) -> bool {
        // A dangling link is an obstacle as well.
        self.0.symlink_metadata().is_ok()
    }
}

impl LogFile for Beside {
    fn name(&self) -> String {
        self.0.display().to_string()
    }

    fn open(&self) -> io::Result<Option<Arc<dyn Backend>>> {
        if self.0.is_symlink() {
            // The link can lead to any file, also to one that another call makes.
            return Err(io::Error::other(
                "it is a link: move it away, and put the log itself there, if this is where it leads to",
            ));
        }
        files::open(&self.0)?.map(locked).transpose()
    }

    fn create(&self, content: &[u8]) -> io::Result<Arc<dyn Backend>> {
        let (new, file) = NewFile::beside(&self.0)?;
        let file = locked(file)?;
        file.write(0, content)?;
        file.sync_data()?;
        new.put_in_place()?;
        Ok(file)
    }

    fn keep(&self, content: &[u8]) -> io::Result<PathBuf> {
        let mut name = self.0.file_name().unwrap_or_default().to_owned();
        name.push(format!(".damaged-{}", bson::oid::ObjectId::new()));
        let kept = self.0.with_file_name(name);
        let (new, mut file) = NewFile::beside(&self.0)?;
        file.write_all(content)?;
        file.sync_all()?;
        new.put_at(&kept)?;
        Ok(kept)
    }

    fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.0)?;
        files::sync_folder(&self.0)
    }
}

/// The owner of the lock on the store's file is alone with its log; the lock of the log protects against callers who moved or linked one of
/// the two files meanwhile.
fn locked(file: File) -> io::Result<Arc<dyn Backend>> {
    let file = FileBackend::new(file).map_err(io::Error::other)?;
    match file.try_lock_range(Bound::Unbounded, Bound::Unbounded)? {
        true => Ok(Arc::new(file)),
        false => Err(io::Error::other(
            "it is already open, in this process or in another",
        )),
    }
}
