//! A database that another process may write.

use std::sync::Arc;

use odm_store::Result;
use redb::{Database, ReadOnlyDatabase, ReadableDatabase};

use super::{
    Backend,
    error::{failed, guard, opening},
    retired::Retired,
    shared::{Role, SharedBackend},
    state::{BaseState, trees_of},
    with_mode,
};

/// An open database without writes.
pub(in super::super) struct ReadOnlyEngine {
    database: ReadOnlyDatabase,
    name: Arc<str>,
    /// No other database takes the place of this one.
    retired: Arc<Retired>,
}

impl ReadOnlyEngine {
    pub(in super::super) fn open(
        backend: Arc<dyn Backend>,
        name: Arc<str>,
        cache_size: usize,
    ) -> Result<ReadOnlyEngine> {
        let mut builder = Database::builder();
        builder.set_cache_size(cache_size);
        let database = guard(&name, || {
            let opened = with_mode(|mode| {
                let shared = SharedBackend::new(backend.clone(), Role::Owner);
                builder.set_concurrency_mode(mode);
                builder.open_read_only_with_backend(shared)
            });
            opened.map_err(|error| opening(&name, error))
        })?;
        Ok(ReadOnlyEngine {
            database,
            retired: Arc::new(Retired::new(name.clone())),
            name,
        })
    }

    /// The newest state that is durable in the file.
    pub(in super::super) fn newest(&self) -> Result<BaseState> {
        let name = &self.name;
        let transaction = guard(name, || {
            let begun = self.database.begin_read();
            begun.map_err(|error| failed(name, error))
        })?;
        // Another process may have made trees since the last state.
        let last_tree = trees_of(&transaction, name)?.last().copied();
        Ok(BaseState::committed(
            transaction,
            name.clone(),
            last_tree.unwrap_or_default(),
            self.retired.clone(),
        ))
    }
}
