//! Tasks that work for a database as long as it is there.

use std::{fmt, future::Future, sync::Arc};

use tokio::{runtime::Handle, task::AbortHandle};

use super::Session;

/// A task in the background. Dropping it ends the task at its next wait.
pub(crate) struct Worker(AbortHandle);

impl Worker {
    pub(crate) fn new(runtime: &Handle, work: impl Future<Output = ()> + Send + 'static) -> Self {
        Worker(runtime.spawn(work).abort_handle())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Worker").finish()
    }
}

impl Session {
    /// With a worker that ends with the last of the sessions.
    pub(crate) fn with_worker(self, worker: Option<Worker>) -> Self {
        Session {
            worker: worker.map(Arc::new),
            ..self
        }
    }

    /// What returns the session while others have it, and keeps neither the store open nor a worker at work.
    pub(crate) fn downgrade(&self) -> impl Fn() -> Option<Session> + Send + Sync + 'static {
        let store = Arc::downgrade(&self.store);
        let Session {
            catalog,
            program,
            has_cold_parts,
            has_pending,
            durability,
            warning_limits,
            ..
        } = self.clone();
        move || {
            Some(Session {
                store: store.upgrade()?,
                catalog: catalog.clone(),
                program: program.clone(),
                has_cold_parts,
                has_pending,
                bound: None,
                snapshot: None,
                durability,
                warning_limits,
                worker: None,
            })
        }
    }
}
