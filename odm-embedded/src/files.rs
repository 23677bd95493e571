//! New files that a crash leaves complete or not at all.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// A temporary file beside its place, which is removed unless it is renamed to the place.
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
    /// `AlreadyExists` if there is a file of this name meanwhile, which stays.
    pub(super) fn put_in_place(self) -> io::Result<()> {
        self.put_at(&self.place)
    }

    /// The same with another name.
    pub(super) fn put_at(&self, place: &Path) -> io::Result<()> {
        // Unlike a rename, a link never replaces a file that another process has created.
        match fs::hard_link(&self.path, place) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) if place.symlink_metadata().is_ok() => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            // Some file systems have no links.
            Err(_) => fs::rename(&self.path, place)?,
        }
        sync_folder(place)
    }

    /// Gives the file its name, durably, and replaces the file that has it. Its content must be durable before.
    ///
    /// After an error either of the two may have the name, now and after a crash.
    pub(super) fn replace(self) -> io::Result<()> {
        fs::rename(&self.path, &self.place)?;
        sync_folder(&self.place)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // After a rename the name does not exist.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the temporary files of killed processes beside a place. The file at the place must be locked: a process that makes a temporary
/// file beside an existing one holds this lock, or is refused in the end.
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
    store_of_leftover(name) == Some(place)
}

/// The name of the file for which a new file of this name was made.
fn store_of_leftover(name: &str) -> Option<&str> {
    let (place, unique) = name.rsplit_once(".new-")?;
    let (process, id) = unique.split_once('-')?;
    let is_unique = process.parse::<u32>().is_ok() && bson::oid::ObjectId::parse_str(id).is_ok();
    is_unique.then_some(place)
}

/// Refuses to make a file at the place of a present or future file of a store: the log of an existing file, or a file that `open` takes for
/// the remains of a crash. The file system finds the other file, by any links and letter case.
pub(super) fn refuse_own(path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let why = if store_of_leftover(&name.to_lowercase()).is_some() {
        "a store makes files with such names, and removes them".to_owned()
    } else if let Some(store) = store_of_log(path)
        && fs::metadata(&store).is_ok_and(|store| store.is_file())
    {
        format!("it is the place of the log of `{}`", store.display())
    } else {
        return Ok(());
    };
    let message = format!("{why}; choose another name");
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// The path of the store that would have its log here.
fn store_of_log(path: &Path) -> Option<PathBuf> {
    let is_log = path.extension()?.eq_ignore_ascii_case("log");
    is_log.then(|| path.with_extension(""))
}

/// Whether two paths lead to one name in one folder, whether or not a file has the name.
pub(super) fn are_same(one: &Path, other: &Path) -> bool {
    let folders = [one, other].map(|path| folder_of(path).canonicalize());
    let names = [one, other].map(|path| path.file_name().unwrap_or_default().to_ascii_lowercase());
    matches!(folders, [Ok(one), Ok(other)] if one == other) && names[0] == names[1]
}

/// Makes the names in the folder of a file durable.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
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

/// Opens a file to read and to write it, or returns `None` if it does not exist.
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
