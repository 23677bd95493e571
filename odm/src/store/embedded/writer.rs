//! The thread that writes.
//!
//! It takes requests from the queue, in their order. Units run one after another on the newest state
//! and the changes of the units before them, and are committed together: the units that wait during
//! one commit form the next group. A unit that fails is undone alone. A unit whose changes are too
//! large for a group runs by itself (see `large`).
//!
//! The order of one group: run the units; commit; publish the new state; answer. So no change can be
//! seen before it is as durable as requested, and a caller who has an answer sees his own write.

mod group;
mod large;
mod lease;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use tracing::{error, warn};

use super::{
    engine::Engine,
    ensure, open,
    queue::{Request, Requests},
    schema::Schema,
    settings::Settings,
    snapshot::{Published, Snapshot},
    wait::{block_on, panic_message},
    work::Work,
};
use crate::error::{Error, ErrorKind, Result};

/// The state of the writer's thread.
pub(super) struct Writer {
    engine: Engine,
    requests: Requests,
    /// A request that was taken from the queue and has not begun.
    next: Option<Request>,
    published: Arc<Published>,
    settings: Arc<Settings>,
    newest: Arc<Snapshot>,
    /// The time of the first commit that a crash may undo.
    unflushed: Option<Instant>,
    /// The error of all further writes, once the disk has failed.
    failure: Option<Error>,
    /// Measurements of the last group, from which the wait for further units is derived.
    pacing: group::CommitPacing,
}

/// The end of a wait.
enum Event {
    Request(Request),
    FlushDue,
    /// All handles of the store are gone.
    Deserted,
}

impl Writer {
    pub(super) fn new(
        engine: Engine,
        requests: Requests,
        published: Arc<Published>,
        newest: Arc<Snapshot>,
    ) -> Writer {
        Writer {
            engine,
            requests,
            next: None,
            published,
            settings: newest.settings.clone(),
            newest,
            unflushed: None,
            failure: None,
            pacing: group::CommitPacing::default(),
        }
    }

    /// Serves requests until the store is closed or all its handles are gone.
    pub(super) fn run(mut self) {
        let closing = loop {
            match self.wait() {
                Event::FlushDue => self.flush(),
                Event::Deserted => break None,
                Event::Request(Request::Unit {
                    unit,
                    durability,
                    reply,
                }) => {
                    let group = group::Group::new(self.begin());
                    let first = (unit, self.durability(durability), reply);
                    self.run_group(group, Some(first));
                }
                Event::Request(Request::Lease {
                    durability,
                    granted,
                    outcome,
                    state,
                }) => {
                    self.lease(durability, granted, outcome, &state);
                }
                Event::Request(Request::Ensure { collections, reply }) => {
                    let result = self.usable().and_then(|()| self.ensure(&collections));
                    let _ = reply.send(result);
                }
                Event::Request(Request::Close { reply }) => break Some(reply),
            }
        };
        self.end(closing);
    }

    /// Makes all commits durable, closes the file, and answers the request to close the store.
    fn end(mut self, closing: Option<super::queue::Reply<()>>) {
        self.flush();
        let failure = self.failure.take();
        let closed = || Error::new(ErrorKind::Closed, "the store is closed");
        self.published.close(failure.clone().unwrap_or_else(closed));
        let Writer {
            engine,
            mut requests,
            newest,
            ..
        } = self;
        drop(newest);
        // The file must be free for other processes before a caller learns that the store is closed.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(engine))) {
            error!(
                "the engine failed while it was closed: {}",
                panic_message(&*panic)
            );
        }
        if let Some(reply) = closing {
            let _ = reply.send(failure.map_or(Ok(()), Err));
        }
        requests.close();
        while let Ok(request) = requests.try_recv() {
            request.refuse(closed());
        }
    }

    fn wait(&mut self) -> Event {
        if let Some(request) = self.next.take() {
            return Event::Request(request);
        }
        let due = self.flush_due();
        match block_on(self.requests.recv(), due) {
            Some(Some(request)) => Event::Request(request),
            Some(None) => Event::Deserted,
            None => Event::FlushDue,
        }
    }

    fn flush_due(&self) -> Option<Instant> {
        self.unflushed
            .map(|since| since + self.settings.flush_interval)
    }

    /// Returns the error of an earlier failure of the disk.
    fn usable(&self) -> Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(failure) => Err(failure.clone()),
        }
    }

    /// Work on the newest state.
    fn begin(&self) -> Work {
        Work::new(self.newest.clone())
    }

    /// Commits work and makes it visible.
    ///
    /// After an error it is unknown whether the disk has the work. None of it becomes visible, and
    /// nothing is written, before the store is opened again; it then has all of the work or nothing.
    fn commit(&mut self, work: &Work, durable: bool) -> Result<()> {
        self.usable()?;
        if work.overlay.is_empty() {
            return if durable { self.make_durable() } else { Ok(()) };
        }
        let committed = self.engine.commit(work.overlay.iter(), durable);
        // From here on the work may be on the disk.
        committed
            .and_then(|()| self.publish(work.schema.clone()))
            .map_err(|error| self.fail(error))?;
        self.unflushed = match (durable, self.unflushed) {
            (true, _) => None,
            (false, since) => Some(since.unwrap_or_else(Instant::now)),
        };
        Ok(())
    }

    fn publish(&mut self, schema: Arc<Schema>) -> Result<()> {
        let base = self.engine.newest()?;
        self.newest = Arc::new(Snapshot {
            base,
            schema,
            settings: self.settings.clone(),
        });
        self.published.publish(self.newest.clone());
        Ok(())
    }

    /// Flushes, since a durable unit may have read commits that are not durable yet.
    fn make_durable(&mut self) -> Result<()> {
        if self.unflushed.is_some() {
            self.flush();
        }
        self.usable()
    }

    fn flush(&mut self) {
        if self.unflushed.take().is_none() || self.failure.is_some() {
            return;
        }
        if let Err(error) = self.engine.flush() {
            self.fail(error);
        }
    }

    /// Stops all writing.
    #[cold]
    fn fail(&mut self, cause: Error) -> Error {
        let message =
            format!("writer failed: {cause}; the store refuses writes until it is opened again");
        error!("{message}");
        let failure = Error::new(ErrorKind::Closed, message).with_source(cause.clone());
        self.failure = Some(failure);
        let message = format!(
            "commit failed: {cause}; nothing of it is visible, and the store must be opened again to \
             know whether it was stored"
        );
        Error::new(cause.kind(), message).with_source(cause)
    }

    fn ensure(&mut self, collections: &[crate::store::CollectionSpec]) -> Result<()> {
        let mut work = self.begin();
        let built = ensure::ensure(&mut work, collections, &mut |work| self.spill(work));
        let result = match built {
            Ok(()) => self.commit(&work, true),
            Err(error) => Err(error),
        };
        // Of what was not built, or of what was removed.
        self.sweep();
        result
    }

    /// Commits a part of an index that is not read yet, so that its build takes bounded memory.
    fn spill(&mut self, work: &mut Work) -> Result<()> {
        let schema = work.schema.clone();
        let committed = self.engine.commit(work.overlay.iter(), false);
        let base = committed
            .and_then(|()| self.engine.newest())
            .map_err(|error| self.fail(error))?;
        self.unflushed = self.unflushed.or_else(|| Some(Instant::now()));
        // The published state stays: readers must not see a schema that is not durable.
        let base = Snapshot {
            base,
            schema,
            settings: self.settings.clone(),
        };
        *work = Work::new(Arc::new(base));
        Ok(())
    }

    /// Removes the entries of indexes that were removed, or whose build was not finished.
    pub(super) fn sweep(&mut self) {
        if self.failure.is_some() {
            return;
        }
        let swept = self.engine.newest().and_then(|base| {
            let schema = Arc::new(open::stored_schema(&base)?);
            if schema.garbage.is_empty() {
                return Ok(());
            }
            let base = Snapshot {
                base,
                schema,
                settings: self.settings.clone(),
            };
            let mut work = Work::new(Arc::new(base));
            ensure::sweep(&mut work, &mut |work| self.spill(work))?;
            self.commit(&work, true)
        });
        if let Err(error) = swept {
            warn!("entries of an index that is not in force could not be removed: {error}");
        }
    }
}

impl Request {
    fn refuse(self, error: Error) {
        match self {
            Request::Unit { reply, .. }
            | Request::Ensure { reply, .. }
            | Request::Close { reply } => drop(reply.send(Err(error))),
            Request::Lease { granted, .. } => drop(granted.send(Err(error))),
        }
    }
}
