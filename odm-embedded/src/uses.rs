//! How often an index was used.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use bson::DateTime;

/// The count of the uses of an index since the store was opened, or the index made. All states of the store share it.
#[derive(Debug, Clone)]
pub(super) struct Uses(Arc<UsesSince>);

#[derive(Debug)]
struct UsesSince {
    count: AtomicU64,
    since: DateTime,
}

impl Default for Uses {
    fn default() -> Self {
        Uses(Arc::new(UsesSince {
            count: AtomicU64::new(0),
            since: DateTime::now(),
        }))
    }
}

impl Uses {
    #[inline]
    pub(super) fn add(&self) {
        self.0.count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count(&self) -> u64 {
        self.0.count.load(Ordering::Relaxed)
    }

    pub(super) fn since(&self) -> DateTime {
        self.0.since
    }
}
