//! How a store is opened.

use std::{path::Path, time::Duration};

use super::{Embedded, engine::InMemoryBackend, open::Place, settings::Settings};
use crate::{error::Result, store::Durability};

/// Opens a store with other than the usual settings. Made by [`Embedded::builder`].
///
/// ```
/// use std::time::Duration;
/// use odm::store::embedded::Embedded;
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
///
/// let store = Embedded::builder()
///     .cache_size(64 << 20)
///     .transaction_limit(Duration::from_secs(2))
///     .memory()
///     .await?;
/// # Ok::<_, odm::Error>(()) }).unwrap();
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a builder opens nothing before `open` or `memory` is called"]
pub struct Builder {
    settings: Settings,
}

impl Builder {
    /// Sets how many bytes of the file the cache may hold. The default is 128 MiB, allocated as it is
    /// needed.
    ///
    /// Half of it may hold pages that are not written yet. A larger cache saves system calls if more
    /// of the data is read often; the operating system caches the file as well.
    pub fn cache_size(mut self, bytes: usize) -> Self {
        self.settings.cache_size = bytes;
        self
    }

    /// How durable writes are at most. With [`Durability::Eventual`], every call behaves as if it had
    /// asked for that. The default is [`Durability::Immediate`]: each call gets what it asks for.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.settings.durability = durability;
        self
    }

    /// After what time at the latest a write with [`Durability::Eventual`] is safe from a crash. The
    /// default is 100 ms.
    pub fn flush_interval(mut self, interval: Duration) -> Self {
        self.settings.flush_interval = interval;
        self
    }

    /// How long a transaction may be open. All other writes wait for it. The default is 10 s.
    pub fn transaction_limit(mut self, limit: Duration) -> Self {
        self.settings.transaction_limit = limit;
        self
    }

    /// How many writes may wait in the queue; further callers wait until there is room, in the
    /// order in which they came. At least 1, and 1024 by default.
    pub fn queue(mut self, writes: usize) -> Self {
        self.settings.queue = writes.max(1);
        self
    }

    /// How many documents one unit of work may insert, change and remove. The default is 100,000.
    pub fn unit_limit(mut self, documents: u64) -> Self {
        self.settings.unit_documents = documents;
        self
    }

    /// How much memory one query may take to bring its result into order, in bytes. The default is
    /// 256 MiB. A query that needs more is an error of kind
    /// [`Limit`](crate::ErrorKind::Limit).
    pub fn sort_memory(mut self, bytes: usize) -> Self {
        self.settings.sort_memory = bytes;
        self
    }

    /// Whether all checksums, documents and index entries are verified when the store is opened.
    /// That reads the whole file. The default is no: after a crash, the store recovers its last
    /// commit by itself.
    pub fn check(mut self, check: bool) -> Self {
        self.settings.check = check;
        self
    }

    /// Opens the store in a file, and makes the file if it does not exist.
    ///
    /// # Errors
    ///
    /// [`Locked`](crate::ErrorKind::Locked) if the file is open already, in this process or in
    /// another; [`Corrupt`](crate::ErrorKind::Corrupt) if it is no store, is damaged, or has a
    /// format that this version does not read; [`Io`](crate::ErrorKind::Io) if it cannot be opened,
    /// or its folder does not exist.
    pub async fn open(self, path: impl AsRef<Path>) -> Result<Embedded> {
        Embedded::start(Place::File(path.as_ref().to_owned()), self.settings).await
    }

    /// Opens an empty store in memory. It is gone when the last handle is dropped.
    pub async fn memory(self) -> Result<Embedded> {
        let place = Place::backend(InMemoryBackend::new(), "memory");
        Embedded::start(place, self.settings).await
    }

    /// Sets from how many bytes of changes on a unit runs by itself, and how many it may then keep
    /// in memory.
    #[cfg(test)]
    pub(super) fn large_units(mut self, group_memory: usize, spill_memory: usize) -> Self {
        self.settings.group_memory = group_memory;
        self.settings.spill_memory = spill_memory;
        self
    }

    #[cfg(test)]
    pub(super) async fn backend(self, backend: impl super::engine::Backend) -> Result<Embedded> {
        Embedded::start(Place::backend(backend, "test"), self.settings).await
    }
}
