//! The settings of a store.

use std::time::Duration;

use odm_store::{Durability, Error, ErrorKind, Result};

use super::log;

/// The settings of an open store.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) cache_size: usize,
    pub(super) durability: Durability,
    pub(super) flush_interval: Duration,
    pub(super) checkpoint_interval: Duration,
    pub(super) transaction_limit: Duration,
    pub(super) queue: usize,
    pub(super) unit_documents: u64,
    pub(super) unit_time: Duration,
    pub(super) sort_memory: usize,
    /// The memory that the changes of a group may take before it takes no further unit, and the
    /// changes of one unit before it runs by itself, in bytes.
    pub(super) group_memory: usize,
    /// The memory that the changes of a unit that runs by itself may take, in bytes.
    pub(super) spill_memory: usize,
    /// The memory from which on an eventual group counts as a load, in bytes.
    pub(super) load_size: usize,
    /// How long others wait for a reservation.
    pub(super) reservation: Duration,
    /// The memory of memtables that earlier states may hold before a snapshot waits for a checkpoint, in bytes.
    pub(super) held_memtables: usize,
    /// The maximum length of the log, in bytes.
    pub(super) log_size: u64,
    pub(super) check: bool,
    /// Whether a store whose log is damaged is opened without the lost part.
    pub(super) salvage: bool,
}

impl Settings {
    /// Refuses settings that cannot work.
    pub(super) fn check(&self) -> Result<()> {
        match self.queue {
            0 => Err(Error::new(
                ErrorKind::InvalidQuery,
                "invalid setting: a `queue` of 0 takes no write; make it 1 at least",
            )),
            _ => Ok(()),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            cache_size: 128 << 20,
            durability: Durability::Immediate,
            flush_interval: Duration::from_millis(100),
            checkpoint_interval: Duration::from_secs(10),
            transaction_limit: Duration::from_secs(60),
            queue: 1024,
            unit_documents: 100_000,
            unit_time: Duration::from_secs(60),
            sort_memory: 256 << 20,
            group_memory: 64 << 20,
            spill_memory: 16 << 20,
            load_size: 1 << 20,
            reservation: Duration::from_millis(50),
            held_memtables: 64 << 20,
            log_size: log::MAX_LEN,
            check: false,
            salvage: false,
        }
    }
}
