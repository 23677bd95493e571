//! New files, which a crash leaves whole or not at all.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// A file that is made beside its place, and removed unless it is put there.
pub(super) struct NewFile {
    path: PathBuf,
    place: PathBuf,
}

impl NewFile {
    /// Makes an empty file, which only its owner can read.
    pub(super) fn beside(place: &Path) -> io::Result<(NewFile, File)> {
        // A name that no other process uses.
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(format!(
            ".new-{}-{}",
            std::process::id(),
            bson::oid::ObjectId::new()
        ));
        let new = NewFile {
            path: place.with_file_name(name),
            place: place.to_owned(),
        };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&new.path)?;
        Ok((new, file))
    }

    /// Gives the file its name, durably. Its content must be durable before.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if there is a file of this name by now, which stays.
    pub(super) fn put_in_place(self) -> io::Result<()> {
        // Unlike a rename, a link never replaces a file that another process has created.
        match fs::hard_link(&self.path, &self.place) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) if self.place.exists() => return Err(io::ErrorKind::AlreadyExists.into()),
            // There are file systems without links.
            Err(_) => fs::rename(&self.path, &self.place)?,
        }
        sync_folder(&self.place)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // After a rename it is gone.
        let _ = fs::remove_file(&self.path);
    }
}

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

/// Opens a file to read and to write it, or returns `None` if there is none.
pub(super) fn open(path: &Path) -> io::Result<Option<File>> {
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.metadata()?.is_file() {
        true => Ok(Some(file)),
        false => Err(io::Error::other("it is not a file")),
    }
}
