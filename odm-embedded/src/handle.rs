//! The shared state of the clones of a store.

use std::{
    mem,
    path::PathBuf,
    process,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};

use odm_store::{Error, ErrorKind, Result, StoreId};
use tokio::sync::{mpsc, oneshot};

use super::{
    queue::Request,
    snapshot::Published,
    wait::{self, Writing},
    writer::SharedWriter,
};

/// The state that the clones of a store share.
pub(super) struct Handle {
    /// `None` while the handle is dropped.
    pub(super) queue: Option<mpsc::Sender<Request>>,
    pub(super) published: Arc<Published>,
    pub(super) writer: Arc<SharedWriter>,
    pub(super) thread: Mutex<Option<JoinHandle<()>>>,
    /// The process that has these threads. A process that was forked from it has no such threads.
    pub(super) process: u32,
    pub(super) name: String,
    /// The path of the file, independent of the folder of the process. `None` in memory.
    pub(super) path: Option<PathBuf>,
    pub(super) id: StoreId,
}

impl Handle {
    /// Adds a request to the queue as soon as there is room.
    pub(super) async fn send(&self, request: Request) -> Result<()> {
        self.check_caller()?;
        let Some(queue) = &self.queue else {
            return Err(self.gone());
        };
        queue.send(request).await.map_err(|_| self.gone())?;
        self.writer.wake.notify_one();
        Ok(())
    }

    fn check_caller(&self) -> Result<()> {
        if Writing::is_in(self.id) {
            // The writer would wait for itself.
            return Err(Error::new(
                ErrorKind::OutsideTransaction,
                "a unit of work must write through its own transaction",
            ));
        }
        self.check_process()
    }

    /// Carries out a request on this thread if nobody else writes, or returns it.
    fn lead(&self, request: Request) -> Option<Request> {
        let is_empty = |queue: &mpsc::Sender<_>| queue.capacity() == queue.max_capacity();
        if !self.queue.as_ref().is_some_and(is_empty) {
            return Some(request);
        }
        match Writing::begin(self.id) {
            Some(_writing) => self.writer.lead(request),
            None => Some(request),
        }
    }

    /// Refuses a process that was forked from the one that has opened the store.
    pub(super) fn check_process(&self) -> Result<()> {
        if !self.is_forked() {
            return Ok(());
        }
        let message = format!(
            "the store `{}` was opened in the process that this one was forked from; open it here once it is closed there",
            self.name
        );
        Err(Error::new(ErrorKind::Closed, message))
    }

    /// Whether this process was forked from the process that has opened the store.
    fn is_forked(&self) -> bool {
        process::id() != self.process
    }

    /// The error of a store whose writer has ended.
    pub(super) fn gone(&self) -> Error {
        let closed = || {
            Error::new(
                ErrorKind::Closed,
                format!("the store `{}` is closed", self.name),
            )
        };
        self.published.get().err().unwrap_or_else(closed)
    }

    /// Sends a request, and waits for its answer.
    pub(super) async fn ask<T>(
        &self,
        request: Request,
        answer: oneshot::Receiver<Result<T>>,
    ) -> Result<T> {
        self.send(request).await?;
        answer.await.unwrap_or_else(|_| Err(self.gone()))
    }

    /// Commits, on this thread or on that of the writer, and waits for the answer.
    pub(super) async fn commit(
        &self,
        request: Request,
        answer: oneshot::Receiver<Result<()>>,
    ) -> Result<()> {
        self.check_caller()?;
        match self.lead(request) {
            Some(request) => self.ask(request, answer).await,
            None => {
                // The commit is made, or under way: dropping this future does not stop it.
                wait::yield_after_writes().await;
                answer.await.unwrap_or_else(|_| Err(self.gone()))
            }
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let thread = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if self.is_forked() {
            // A forked process has no thread to end, and none that releases its locks.
            mem::forget((self.queue.take(), self.writer.clone(), thread));
            return;
        }
        // Without a sender, the writer ends after the requests in the queue.
        self.queue = None;
        self.writer.wake.notify_one();
        // A waker may drop the last handle on a thread of the store itself, which then ends by itself.
        if let Some(thread) = thread
            && !wait::is_marked_thread()
            && thread.join().is_err()
        {
            tracing::error!("the writer of `{}` has panicked", self.name);
        }
    }
}
