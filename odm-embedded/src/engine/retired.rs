//! Databases that were replaced by others.

use std::sync::{Arc, OnceLock};

use redb::Database;
use tracing::error;

use super::error::guard;

/// The place of a replaced database. It keeps the database open for its states, and closes it when the last of them is dropped.
pub(super) struct Retired {
    database: OnceLock<Database>,
    name: Arc<str>,
}

impl Retired {
    pub(super) fn new(name: Arc<str>) -> Retired {
        Retired {
            database: OnceLock::new(),
            name,
        }
    }

    /// Keeps the database, which refuses writes already.
    pub(super) fn keep(&self, database: Database) {
        // An engine is replaced once: after that it is gone.
        let _ = self.database.set(database);
    }
}

impl Drop for Retired {
    fn drop(&mut self) {
        let closed = guard(&self.name, || {
            drop(self.database.take());
            Ok(())
        });
        if let Err(cause) = closed {
            error!("the file before a compaction could not be closed: {cause}");
        }
    }
}
