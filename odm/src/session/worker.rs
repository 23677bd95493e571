//! Tasks that work for a database as long as it is there.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::Poll,
};

use tokio::{runtime::Handle, task::AbortHandle};

use super::Session;

/// A task in the background. Dropping it ends the task at its present wait, and drops all that the task holds.
pub(crate) struct Worker {
    work: Arc<Mutex<Option<Work>>>,
    task: AbortHandle,
}

/// The work, until it is done or dropped.
type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Worker {
    pub(crate) fn new(runtime: &Handle, work: impl Future<Output = ()> + Send + 'static) -> Self {
        let work: Work = Box::pin(work);
        let work = Arc::new(Mutex::new(Some(work)));
        let polled = work.clone();
        let task = runtime.spawn(poll_fn(move |cx| {
            let mut work = polled.lock().unwrap_or_else(PoisonError::into_inner);
            let poll = work.as_mut().map(|work| work.as_mut().poll(cx));
            let poll = poll.unwrap_or(Poll::Ready(()));
            if poll.is_ready() {
                *work = None;
            }
            poll
        }));
        Worker {
            work,
            task: task.abort_handle(),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The runtime drops an aborted task some time later, and the store that the work holds would be open until then.
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = work.take();
        drop(work);
        drop(dropped);
        self.task.abort();
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Worker").finish()
    }
}

impl Session {
    /// With workers that end with the last of the sessions.
    pub(crate) fn with_workers(self, workers: Vec<Worker>) -> Self {
        Session {
            workers: (!workers.is_empty()).then(|| Arc::new(workers)),
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
            outbox,
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
                outbox: outbox.clone(),
                workers: None,
            })
        }
    }
}
