//! A storage backend that several databases of this process read: one of them writes to it, and the others verify it.

use std::{io, ops::Bound, sync::Arc};

use redb::{BackendError, StorageBackend};

/// A backend that is shared.
#[derive(Debug)]
pub(super) struct SharedBackend {
    backend: Arc<dyn StorageBackend>,
    role: Role,
}

/// How a database treats the locks of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It locks the file, and closes it: the database of the writer, or of a read-only store.
    Owner,
    /// It excludes other writers, also until the owner that comes after it does so. It takes no shared locks: these would tell readers in
    /// other processes that the file is recovered.
    First,
    /// It does neither. It is open together with the owner, which is idle meanwhile.
    Guest,
}

impl SharedBackend {
    pub(super) fn new(backend: Arc<dyn StorageBackend>, role: Role) -> SharedBackend {
        SharedBackend { backend, role }
    }

    fn lock<T>(
        &self,
        of_guest: T,
        lock: impl FnOnce(&dyn StorageBackend) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        match self.role {
            Role::Owner | Role::First => lock(&*self.backend),
            Role::Guest => Ok(of_guest),
        }
    }

    fn lock_shared<T>(
        &self,
        of_others: T,
        lock: impl FnOnce(&dyn StorageBackend) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        match self.role {
            Role::Owner => lock(&*self.backend),
            Role::First | Role::Guest => Ok(of_others),
        }
    }
}

impl StorageBackend for SharedBackend {
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
        match self.role {
            Role::Owner => self.backend.close(),
            Role::First | Role::Guest => Ok(()),
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
        self.lock_shared(true, |backend| backend.try_lock_shared_range(start, end))
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.lock((), |backend| backend.lock_range(start, end))
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.lock_shared((), |backend| backend.lock_shared_range(start, end))
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.lock((), |backend| backend.unlock_range(start, end))
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.lock(false, |backend| backend.query_lock_range(start, end))
    }
}
