//! A group commit by hand: one thread that commits all waiting writes together.

use std::{
    sync::{Mutex, PoisonError, mpsc},
    thread::JoinHandle,
};

use anyhow::Context;
use tokio::sync::oneshot;

use super::system::Write;

struct Job {
    write: Write,
    done: oneshot::Sender<anyhow::Result<u64>>,
}

pub(super) struct GroupCommit {
    /// `None` once the thread is to end.
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl GroupCommit {
    const LARGEST: usize = 256;

    /// Starts the thread. `commit` returns the result of each write, or an error if none is stored.
    pub(super) fn start<C>(mut commit: C) -> GroupCommit
    where
        C: FnMut(&[&Write]) -> anyhow::Result<Vec<anyhow::Result<u64>>> + Send + 'static,
    {
        let (jobs, queue) = mpsc::channel::<Job>();
        let thread = std::thread::spawn(move || {
            while let Ok(first) = queue.recv() {
                let mut group = vec![first];
                group.extend(queue.try_iter().take(Self::LARGEST - 1));
                let writes: Vec<&Write> = group.iter().map(|job| &job.write).collect();
                let results = commit(&writes).unwrap_or_else(|error| {
                    let failed = |_| Err(anyhow::anyhow!("{error}"));
                    writes.iter().map(failed).collect()
                });
                for (job, result) in group.into_iter().zip(results) {
                    // The receiver is dropped if nobody waits any more.
                    let _ = job.done.send(result);
                }
            }
        });
        GroupCommit {
            jobs: Mutex::new(Some(jobs)),
            thread: Some(thread),
        }
    }

    pub(super) async fn write(&self, write: Write) -> anyhow::Result<u64> {
        let (done, result) = oneshot::channel();
        {
            let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            let jobs = jobs.as_ref().context("the thread has ended")?;
            jobs.send(Job { write, done })?;
        }
        result.await?
    }
}

impl Drop for GroupCommit {
    fn drop(&mut self) {
        *self.jobs.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, it has printed why.
            let _ = thread.join();
        }
    }
}
