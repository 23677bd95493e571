//! New files, which a crash leaves whole or not at all.

use std::{
    ffi::OsStr,
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

    /// Gives the file its name, durably, in the place of the file that has it. Its content must be durable before.
    ///
    /// After an error either of the two may have the name, now and after a crash.
    pub(super) fn replace(self) -> io::Result<()> {
        fs::rename(&self.path, &self.place)?;
        sync_folder(&self.place)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // After a rename it is gone.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the new files beside a place that were never put there, since their process was killed. Its file must be
/// locked: who makes one beside a file that is there is alone with it, or is refused in the end.
pub(super) fn remove_leftovers(place: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder_of(place))? {
        let entry = entry?;
        if is_leftover(&entry.file_name(), place) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn is_leftover(name: &OsStr, place: &Path) -> bool {
    let (Some(name), Some(place)) = (name.to_str(), place.file_name().and_then(OsStr::to_str))
    else {
        return false;
    };
    let rest = name.strip_prefix(place);
    let rest = rest.and_then(|rest| rest.strip_prefix(".new-"));
    rest.and_then(|rest| rest.split_once('-'))
        .is_some_and(|(process, id)| {
            process.parse::<u32>().is_ok() && bson::oid::ObjectId::parse_str(id).is_ok()
        })
}

fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder_of(path))?.sync_all()?;
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
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
