//! The builder of a store.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use odm_store::{Durability, ErrorKind, Result};

use super::{
    Embedded, open::Place, read_only::ReadOnlyStore, salvage::Salvaged, settings::Settings,
};

/// How often a builder checks whether a file that is open elsewhere is free.
const LOCK_INTERVAL: Duration = Duration::from_millis(10);

/// A builder that opens a store with its own settings, created by [`Embedded::builder`].
///
/// ```
/// use std::time::Duration;
/// use odm::Embedded;
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
    lock_wait: Duration,
}

impl Builder {
    /// Sets how many bytes of the file the cache may hold. The default is 128 MiB, allocated as it is
    /// needed.
    ///
    /// Half of it may hold pages that are not written yet. A larger cache saves system calls if more
    /// of the data is read often; the operating system caches the file as well.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let store = Embedded::builder().cache_size(512 << 20).memory().await?;
    /// # Ok(()) });
    /// ```
    pub fn cache_size(mut self, bytes: usize) -> Self {
        self.settings.cache_size = bytes;
        self
    }

    /// Limits the durability of writes. With [`Durability::Eventual`], every call has that durability.
    /// The default is [`Durability::Immediate`]: each call has the durability that it requests.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::store::Durability;
    ///
    /// // A store of which the last moments may be lost, whatever each write asks for.
    /// let store = Embedded::builder().durability(Durability::Eventual).memory().await?;
    /// # Ok(()) });
    /// ```
    pub fn durability(mut self, durability: Durability) -> Self {
        self.settings.durability = durability;
        self
    }

    /// Sets the time after which a write with [`Durability::Eventual`] is durable at the latest. The default is 100 ms. With
    /// [`Duration::MAX`], another write or the close of the store makes it durable.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use std::time::Duration;
    ///
    /// let store = Embedded::builder().flush_interval(Duration::from_secs(1)).memory().await?;
    /// # Ok(()) });
    /// ```
    pub fn flush_interval(mut self, interval: Duration) -> Self {
        self.settings.flush_interval = interval;
        self
    }

    /// Sets how long a commit stays in the log alone: the time after which a checkpoint writes it into the store's own file, where a
    /// [`ReadOnlyStore`] sees it. The default is 10 s. A log that fills up makes checkpoints earlier, and with [`Duration::MAX`] it
    /// alone does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.odm");
    /// use std::time::Duration;
    ///
    /// let store = Embedded::builder().checkpoint_interval(Duration::from_secs(1)).open(&path).await?;
    /// # Ok(()) });
    /// ```
    pub fn checkpoint_interval(mut self, interval: Duration) -> Self {
        self.settings.checkpoint_interval = interval;
        self
    }

    /// Limits the time that a transaction may be open. Nobody waits for it, but it holds the memory of the changes since it began. The
    /// default is 60 s; [`Duration::MAX`] turns it off. A write outside of a transaction has
    /// [`unit_time_limit`](Builder::unit_time_limit).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use std::time::Duration;
    ///
    /// let store = Embedded::builder().transaction_limit(Duration::from_millis(20)).memory().await?;
    /// let shop = Shop::open(store).await?;
    /// let slow = shop.transaction(async |shop| {
    ///     tokio::time::sleep(Duration::from_millis(60)).await; // such as a request to another service
    ///     shop.parts.delete(1).await
    /// });
    /// assert_eq!(slow.await.unwrap_err().kind(), odm::ErrorKind::TransactionExpired);
    /// # Ok(()) });
    /// ```
    pub fn transaction_limit(mut self, limit: Duration) -> Self {
        self.settings.transaction_limit = limit;
        self
    }

    /// Limits the number of writes in the queue. Further callers wait until there is room, in the
    /// order of their arrival. The default is 1024. With 0, opening the store is an error.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let store = Embedded::builder().queue(64).memory().await?;
    /// # Ok(()) });
    /// ```
    pub fn queue(mut self, writes: usize) -> Self {
        self.settings.queue = writes;
        self
    }

    /// Limits the number of documents that one unit of work may insert, change and remove. The default
    /// is 100,000. Their size has no limit: a unit whose changes exceed 64 MiB runs by itself, moves
    /// them to the file while it runs, and is durable when it returns.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let store = Embedded::builder().unit_limit(2).memory().await?;
    /// let shop = Shop::open(store).await?;
    /// let part = |id| Part { id, name: id.to_string(), qty: 1, price: 0.1, tags: vec![], note: None };
    /// let three = shop.parts.insert_many((1..=3).map(part));
    /// assert_eq!(three.await.unwrap_err().kind(), odm::ErrorKind::Limit);
    /// # Ok(()) });
    /// ```
    pub fn unit_limit(mut self, documents: u64) -> Self {
        self.settings.unit_documents = documents;
        self
    }

    /// Limits the time that one unit of work may compute; all other writes wait for it meanwhile. The
    /// default is 60 s; [`Duration::MAX`] turns it off.
    ///
    /// A unit is a write of a repository with all its consequences. A unit that takes longer fails with
    /// [`Limit`](odm_store::ErrorKind::Limit), and nothing of it is stored. The time is checked between chunks of its work, so a unit may
    /// exceed the limit by one chunk. It does not include the commit.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use std::time::Duration;
    ///
    /// let store = Embedded::builder().unit_time_limit(Duration::from_secs(5)).memory().await?;
    /// # Ok(()) });
    /// ```
    pub fn unit_time_limit(mut self, limit: Duration) -> Self {
        self.settings.unit_time = limit;
        self
    }

    /// Limits the memory that one query may take to sort its result, in bytes. The default is 256 MiB.
    /// A query that needs more fails with [`Limit`](odm_store::ErrorKind::Limit).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let store = Embedded::builder().sort_memory(64 << 20).memory().await?;
    /// # Ok(()) });
    /// ```
    pub fn sort_memory(mut self, bytes: usize) -> Self {
        self.settings.sort_memory = bytes;
        self
    }

    /// Sets whether opening the store verifies all checksums, documents and index entries, which reads
    /// the whole file, at about 4 ms for each MiB. The default is `false`: a store recovers its last
    /// commit after a crash without that.
    ///
    /// Without it, damage that breaks the structure of the file is an error when it is read, but a bit that the disk has flipped inside of
    /// a value is read as data.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.odm");
    /// let store = Embedded::builder().check(true).open(&path).await?;
    /// # Ok(()) });
    /// ```
    pub fn check(mut self, check: bool) -> Self {
        self.settings.check = check;
        self
    }

    /// Sets how long `open` waits for a file that is already open, in another process or in this one: as by the version of a program that
    /// this one replaces. By default, it does not wait; [`Duration::MAX`] waits without end.
    ///
    /// It looks every 10 ms, and does not queue: any of several waiting callers may be the next.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use std::time::Duration;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.odm");
    /// let store = Embedded::builder().wait_for_lock(Duration::from_secs(30)).open(&path).await?;
    /// # Ok(()) });
    /// ```
    pub fn wait_for_lock(mut self, at_most: Duration) -> Self {
        self.lock_wait = at_most;
        self
    }

    /// Opens the store in a file, and creates the file if it does not exist.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.odm");
    /// let store = Embedded::builder().cache_size(512 << 20).open(&path).await?;
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Locked`](odm_store::ErrorKind::Locked) if the file is already open, in this process or in another, for longer than
    /// [`wait_for_lock`](Builder::wait_for_lock) allows; [`Corrupt`](odm_store::ErrorKind::Corrupt) if it is not a store, is damaged, has a
    /// format that this version does not read, or is not beside its own log, or if the log has lost synced records: then neither file is
    /// changed, and [`salvage`](Builder::salvage) opens the remaining data; [`Io`](odm_store::ErrorKind::Io) if it cannot be opened, its
    /// folder does not exist, or a new one would take the place of a file of another store;
    /// [`InvalidQuery`](odm_store::ErrorKind::InvalidQuery) if a setting is invalid.
    pub async fn open(self, path: impl AsRef<Path>) -> Result<Embedded> {
        // If there is none, the wait has no end.
        let end = Instant::now().checked_add(self.lock_wait);
        loop {
            let place = Place::File(path.as_ref().to_owned());
            match Embedded::start(place, self.settings.clone()).await {
                Err(error)
                    if error.kind() == ErrorKind::Locked
                        && end.is_none_or(|end| Instant::now() < end) =>
                {
                    tokio::time::sleep(LOCK_INTERVAL).await;
                }
                opened => return opened.map(|(store, _)| store),
            }
        }
    }

    /// Opens the store in a file to read it, as [`Embedded::open_read_only`] does, with this builder's `cache_size`, `sort_memory` and
    /// `check`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |_| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.odm");
    /// # drop(Embedded::open(&path).await?);
    /// let store = Embedded::builder().cache_size(16 << 20).open_read_only(&path).await?;
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Embedded::open_read_only`].
    pub async fn open_read_only(self, path: impl AsRef<Path>) -> Result<ReadOnlyStore> {
        ReadOnlyStore::open(path.as_ref(), self.settings).await
    }

    /// Opens a store whose log is damaged, missing or another's, with the units before the damage: all units in the store's own file, and
    /// the units of the log up to the first unreadable one. The result states the loss. A store that [`open`](Builder::open) opens is
    /// opened as it is.
    ///
    /// Prefer a [backup](Embedded::backup) that has more. The log is copied before it is given up, so that its readable parts are not lost;
    /// all units that were read from it are in the file when this returns.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("shop.odm");
    /// let salvaged = Embedded::builder().salvage(&path).await?;
    /// if let Some(damage) = &salvaged.damage {
    ///     eprintln!("{damage}; {} units are left out, see {:?}", salvaged.left_out, salvaged.log);
    /// }
    /// let shop = Shop::open(salvaged.store).await?;
    /// # assert!(salvaged.damage.is_none());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Builder::open), except errors about a log that is damaged or missing. `Corrupt` if a change of the log was
    /// made to another value than the store has, which is damaged then: the store opens without its log.
    pub async fn salvage(mut self, path: impl AsRef<Path>) -> Result<Salvaged> {
        self.settings.salvage = true;
        let place = Place::File(path.as_ref().to_owned());
        let (store, found) = Embedded::start(place, self.settings).await?;
        Ok(Salvaged::new(store, found))
    }

    /// Opens an empty store in memory. It is gone when the last handle is dropped.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let store = Embedded::builder().unit_limit(1_000).memory().await?;
    /// let shop = Shop::open(store).await?;
    /// # Ok(()) });
    /// ```
    pub async fn memory(mut self) -> Result<Embedded> {
        // There is no file to sync.
        self.settings.durability = Durability::Eventual;
        let (store, _) = Embedded::start(Place::Memory, self.settings).await?;
        Ok(store)
    }

    /// Sets the size of changes in bytes from which a unit runs by itself, and how many bytes of them it may then keep in memory.
    #[cfg(test)]
    pub(super) fn large_units(mut self, group_memory: usize, spill_memory: usize) -> Self {
        self.settings.group_memory = group_memory;
        self.settings.spill_memory = spill_memory;
        self
    }

    /// Sets the size of changes in bytes from which on successive eventual groups are a load.
    #[cfg(test)]
    pub(super) fn load_size(mut self, bytes: usize) -> Self {
        self.settings.load_size = bytes;
        self
    }

    #[cfg(test)]
    pub(super) fn reservation(mut self, time: Duration) -> Self {
        self.settings.reservation = time;
        self
    }

    #[cfg(test)]
    pub(super) fn held_memtables(mut self, bytes: usize) -> Self {
        self.settings.held_memtables = bytes;
        self
    }

    /// Limits the length of the log, in bytes.
    #[cfg(test)]
    pub(super) fn log_size(mut self, bytes: u64) -> Self {
        self.settings.log_size = bytes;
        self
    }

    #[cfg(any(test, feature = "__test"))]
    #[doc(hidden)]
    pub async fn backend(self, disk: super::disk::Disk) -> Result<Embedded> {
        let (store, _) = Embedded::start(Place::Disk(disk), self.settings).await?;
        Ok(store)
    }

    #[cfg(test)]
    pub(super) async fn salvage_backend(mut self, disk: super::disk::Disk) -> Result<Salvaged> {
        self.settings.salvage = true;
        let (store, found) = Embedded::start(Place::Disk(disk), self.settings).await?;
        Ok(Salvaged::new(store, found))
    }
}
