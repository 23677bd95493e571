//! Background tasks that work for a database until it is dropped.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use tokio::{runtime::Handle, task::AbortHandle};

use super::Session;

/// A task in the background. The task ends with its runtime, and a new one continues its work in the runtime in which the database is used
/// next. Dropping it ends the task at its present await, and drops everything that the task holds.
pub(crate) struct Worker {
    begin: Box<dyn Fn() -> WorkerFuture + Send + Sync>,
    state: Arc<WorkerState>,
    task: Mutex<Option<AbortHandle>>,
}

/// The work, until it is done or dropped.
type WorkerFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

struct WorkerState {
    /// The name of its work, for events.
    name: &'static str,
    database: &'static str,
    work: Mutex<Option<WorkerFuture>>,
    /// Whether there is no task, and the next runtime gets one.
    is_without_task: AtomicBool,
}

impl WorkerState {
    fn take(&self) -> Option<WorkerFuture> {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        work.take()
    }
}

impl Worker {
    /// Makes a worker, which begins as soon as it is told to [go on](Worker::go_on) in a runtime.
    pub(crate) fn new<F>(
        name: &'static str,
        database: &'static str,
        begin: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Worker {
            begin: Box::new(move || Box::pin(begin())),
            state: Arc::new(WorkerState {
                name,
                database,
                work: Mutex::default(),
                is_without_task: AtomicBool::new(true),
            }),
            task: Mutex::default(),
        }
    }

    /// Makes sure that there is a task, if this is a runtime of tokio.
    pub(crate) fn go_on(&self) {
        let is_without_task = &self.state.is_without_task;
        if !is_without_task.load(Ordering::Acquire) {
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        if !is_without_task.swap(false, Ordering::AcqRel) {
            return;
        }
        let mut work = self
            .state
            .work
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *work = Some((self.begin)());
        drop(work);
        let task = runtime.spawn(Task {
            state: self.state.clone(),
            is_polled: false,
        });
        let mut last = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(task.abort_handle());
    }
}

/// The task of a worker.
struct Task {
    state: Arc<WorkerState>,
    /// If this is still set when the task is dropped, the work has panicked.
    is_polled: bool,
}

impl Future for Task {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.is_polled = true;
        let state = self.state.clone();
        let mut work = state.work.lock().unwrap_or_else(PoisonError::into_inner);
        let poll = work.as_mut().map(|work| work.as_mut().poll(cx));
        let poll = poll.unwrap_or(Poll::Ready(()));
        if poll.is_ready() {
            *work = None;
        }
        self.is_polled = false;
        poll
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        let WorkerState { name, database, .. } = *self.state;
        // `None` if the work is done, or the database was dropped. Otherwise the rest of the work, which holds locks and timers of the
        // ended runtime, is dropped here.
        if self.state.take().is_none() {
            return;
        }
        if self.is_polled {
            tracing::error!(
                target: "odm", database,
                "{name}: the worker has panicked, and is there again when the database is opened the next time"
            );
            return;
        }
        tracing::warn!(
            target: "odm", database,
            "{name}: the runtime of the worker has ended; it goes on in the runtime in which the database is used next"
        );
        self.state.is_without_task.store(true, Ordering::Release);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The runtime drops an aborted task some time later, and the store that the work holds would be open until then.
        drop(self.state.take());
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = &*task {
            task.abort();
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Worker").finish()
    }
}

impl Session {
    /// Adds workers, which begin now, and end with the last of the sessions.
    pub(crate) fn with_workers(self, workers: Vec<Worker>) -> Self {
        workers.iter().for_each(Worker::go_on);
        Session {
            workers: (!workers.is_empty()).then(|| Arc::new(workers)),
            ..self
        }
    }

    /// Makes sure that the workers are at work in this runtime or another.
    pub(super) fn keep_workers(&self) {
        if let Some(workers) = &self.workers {
            workers.iter().for_each(Worker::go_on);
        }
    }

    /// Returns a weak handle: it upgrades while another clone is alive, and keeps neither the store open nor a worker running.
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
                rights: None,
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
                turns: Arc::default(),
            })
        }
    }
}
