//! The place of the file of a store, and its replacement by another file while the store is open.

use std::{
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    engine::{Backend, FileBackend, InMemoryBackend},
    files::NewFile,
};

/// The place of the file of a store.
pub(super) trait StoreFile: Send {
    /// Makes an empty file that can take the place of the store's.
    fn create(&self) -> io::Result<Replacement>;
}

/// A file that can take the place of another. It is removed unless it does.
pub(super) struct Replacement {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) make_durable: MakeDurable,
}

/// Makes the content of a file durable. An error leaves the place as it is.
pub(super) type MakeDurable = Box<dyn FnOnce() -> io::Result<PutInPlace> + Send>;

/// Puts a file whose content is durable at the place, durably.
///
/// After an error either of the two files may be found there, now and after a crash.
pub(super) type PutInPlace = Box<dyn FnOnce() -> io::Result<Box<dyn StoreFile>> + Send>;

/// The place of a store in memory.
pub(super) struct InMemory;

impl StoreFile for InMemory {
    fn create(&self) -> io::Result<Replacement> {
        Ok(Replacement {
            backend: Arc::new(InMemoryBackend::new()),
            make_durable: Box::new(|| Ok(Box::new(|| Ok(Box::new(InMemory))))),
        })
    }
}

/// The path of an open file.
pub(super) struct OnDisk {
    path: PathBuf,
    identity: Identity,
}

impl OnDisk {
    /// The place of an open file, at a path that has no links in it.
    pub(super) fn new(path: PathBuf, identity: Identity) -> OnDisk {
        OnDisk { path, identity }
    }

    /// A rename would replace a file that was put at the path, which may be another store.
    fn check(&self) -> io::Result<()> {
        match self.identity.is_at(&self.path)? {
            true => Ok(()),
            false => Err(io::Error::other("another file was put in its place")),
        }
    }
}

impl StoreFile for OnDisk {
    fn create(&self) -> io::Result<Replacement> {
        if !Identity::IS_KNOWN {
            let message = "an open file is replaced on Unix only";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
        self.check()?;
        let (new, file) = NewFile::beside(&self.path)?;
        give_to_owner_of(&fs::metadata(&self.path)?, &file)?;
        let next = OnDisk {
            path: self.path.clone(),
            identity: Identity::of(&file.metadata()?),
        };
        let replaced = OnDisk {
            path: self.path.clone(),
            identity: self.identity,
        };
        // Both handles share the lock on the file.
        let backend = FileBackend::new(file.try_clone()?).map_err(io::Error::other)?;
        Ok(Replacement {
            backend: Arc::new(backend),
            make_durable: Box::new(move || {
                file.sync_all()?;
                replaced.check()?;
                Ok(Box::new(move || {
                    new.replace()?;
                    Ok(Box::new(next))
                }))
            }),
        })
    }
}

/// The identity of an open file. It is known on Unix only; elsewhere, all files have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    const IS_KNOWN: bool = cfg!(unix);

    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        Identity {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn of(_: &Metadata) -> Identity {
        Identity {
            device: 0,
            inode: 0,
        }
    }

    /// Whether a path leads to this file.
    pub(super) fn is_at(&self, path: &Path) -> io::Result<bool> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(*self == Identity::of(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Gives a file the owner and the permissions of another.
#[cfg(unix)]
fn give_to_owner_of(other: &Metadata, file: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let has = file.metadata()?;
    if (has.uid(), has.gid()) != (other.uid(), other.gid()) {
        fchown(file, Some(other.uid()), Some(other.gid()))?;
    }
    file.set_permissions(other.permissions())
}

#[cfg(not(unix))]
fn give_to_owner_of(other: &Metadata, file: &File) -> io::Result<()> {
    file.set_permissions(other.permissions())
}
