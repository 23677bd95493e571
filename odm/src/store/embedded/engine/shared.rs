//! A storage backend that several databases read: the one that writes to it, and those that verify it.

use std::{io, ops::Bound, sync::Arc};

use redb::{BackendError, StorageBackend};

/// A backend that is shared.
#[derive(Debug)]
pub(super) struct Shared {
    backend: Arc<dyn StorageBackend>,
    /// Whether it locks the file, and closes it. One alone does.
    is_owner: bool,
}

impl Shared {
    /// The backend of the database that writes.
    pub(super) fn owner(backend: Arc<dyn StorageBackend>) -> Shared {
        Shared {
            backend,
            is_owner: true,
        }
    }

    /// The backend of another database, while the owner does nothing.
    pub(super) fn guest(backend: Arc<dyn StorageBackend>) -> Shared {
        Shared {
            backend,
            is_owner: false,
        }
    }

    fn lock<T>(
        &self,
        of_guest: T,
        of_owner: impl FnOnce(&dyn StorageBackend) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        match self.is_owner {
            true => of_owner(&*self.backend),
            false => Ok(of_guest),
        }
    }
}

impl StorageBackend for Shared {
    fn len(&self) -> io::Result<u64> {
        self.backend.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.backend.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.backend.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.backend.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.backend.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        match self.is_owner {
            true => self.backend.close(),
            false => Ok(()),
        }
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.lock(true, |backend| backend.try_lock_range(start, end))
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.lock(true, |backend| backend.try_lock_shared_range(start, end))
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.lock((), |backend| backend.lock_range(start, end))
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.lock((), |backend| backend.lock_shared_range(start, end))
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.lock((), |backend| backend.unlock_range(start, end))
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.lock(false, |backend| backend.query_lock_range(start, end))
    }
}
