//! Waiting without a runtime: on the writer's thread, and between the chunks of a long read.

use std::{
    any::Any,
    cell::Cell,
    future::Future,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use odm_store::{Error, ErrorKind, Result, StoreId};

thread_local! {
    static IS_OF_A_STORE: Cell<bool> = const { Cell::new(false) };
    static WRITES: Cell<Option<StoreId>> = const { Cell::new(None) };
    static WRITTEN_FOR: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Marks this thread as one of a store. No handle may wait for such a thread while it runs there.
pub(super) fn mark_thread() {
    IS_OF_A_STORE.set(true);
}

/// Whether this thread is one of a store. Code of callers runs there: units, and the wakers of their tasks.
pub(super) fn is_marked_thread() -> bool {
    IS_OF_A_STORE.get()
}

/// The time in which a thread uses the writer of a store. No task of it may wait for that writer.
pub(super) struct Writing(Instant);

/// How long a thread of a runtime writes before it lets other tasks run.
const WRITING: Duration = Duration::from_millis(1);

impl Writing {
    /// Begins it, unless the thread uses a writer already.
    pub(super) fn begin(store: StoreId) -> Option<Writing> {
        if WRITES.get().is_some() {
            return None;
        }
        WRITES.set(Some(store));
        Some(Writing(Instant::now()))
    }

    /// Whether this thread uses the writer of a store.
    pub(super) fn is_in(store: StoreId) -> bool {
        WRITES.get() == Some(store)
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        WRITES.set(None);
        WRITTEN_FOR.set(WRITTEN_FOR.get().saturating_add(self.0.elapsed()));
    }
}

/// Lets other tasks run, if this thread has written for long.
pub(super) async fn yield_after_writes() {
    if WRITTEN_FOR.get() >= WRITING {
        WRITTEN_FOR.set(Duration::ZERO);
        yield_now().await;
    }
}

struct Unpark {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Runs a future on this thread. Drops it and returns `None` if it is not ready at the deadline, if there is one.
pub(super) fn block_on<F: Future>(future: F, deadline: Option<Instant>) -> Option<F::Output> {
    let mut future = pin!(future);
    // Most futures are ready on the first poll.
    if let Poll::Ready(output) = future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        return Some(output);
    }
    let unpark = Arc::new(Unpark {
        thread: thread::current(),
        woken: AtomicBool::new(false),
    });
    let waker = Waker::from(unpark.clone());
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        // A wake-up between the poll and the park leaves a token, so that the park returns at once.
        while !unpark.woken.swap(false, Ordering::Acquire) {
            match deadline {
                None => thread::park(),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return None;
                    }
                    thread::park_timeout(left);
                }
            }
        }
    }
}

/// The end of a duration that begins now; `None` if the clock cannot express it, so that it never ends.
pub(super) fn end_of(time: Duration) -> Option<Instant> {
    Instant::now().checked_add(time)
}

/// The number of documents or index entries that are read between two yields.
const CHUNK: u32 = 1000;

/// The number of steps that a long read may take before its chunk ends.
pub(super) struct YieldBudget {
    left: u32,
    end: ChunkEnd,
}

/// The action of a long read at the end of a chunk.
enum ChunkEnd {
    Yield,
    AskDeadline(Deadline),
    Nothing,
}

impl YieldBudget {
    /// A budget for reads on the task of the caller, which let other tasks run.
    pub(super) fn per_chunk() -> YieldBudget {
        YieldBudget {
            left: CHUNK,
            end: ChunkEnd::Yield,
        }
    }

    /// A budget for reads that never yield, and end with an error after a deadline.
    pub(super) fn until(deadline: Option<Deadline>) -> YieldBudget {
        YieldBudget {
            left: CHUNK,
            end: deadline.map_or(ChunkEnd::Nothing, ChunkEnd::AskDeadline),
        }
    }

    /// Counts one step, and returns whether to let other tasks run by [`yield_now`] before it.
    ///
    /// # Errors
    ///
    /// `Limit` after the deadline.
    #[inline]
    pub(super) fn is_due(&mut self) -> Result<bool> {
        match self.left {
            0 => self.end_chunk(),
            _ => {
                self.left -= 1;
                Ok(false)
            }
        }
    }

    #[cold]
    fn end_chunk(&mut self) -> Result<bool> {
        self.left = CHUNK;
        match &self.end {
            ChunkEnd::Yield => Ok(true),
            ChunkEnd::AskDeadline(deadline) => deadline.ask().map(|()| false),
            ChunkEnd::Nothing => Ok(false),
        }
    }
}

/// The end of the time that a unit of work may compute.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    at: Instant,
    limit: Duration,
}

impl Deadline {
    /// The deadline of a unit that begins now; `None` for a limit that never ends.
    pub(super) fn after(limit: Duration) -> Option<Deadline> {
        end_of(limit).map(|at| Deadline { at, limit })
    }

    /// Returns an error if the unit has computed for longer.
    pub(super) fn ask(&self) -> Result<()> {
        if Instant::now() < self.at {
            return Ok(());
        }
        let message = format!(
            "unit of work too long: it computes for more than {:?}, and all other writes wait for it; \
             split it, or raise `unit_time_limit`",
            self.limit
        );
        Err(Error::new(ErrorKind::Limit, message))
    }
}

/// Yields to other tasks once.
pub(super) fn yield_now() -> impl Future<Output = ()> + Send {
    struct Yield(bool);

    impl Future for Yield {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            if self.0 {
                return Poll::Ready(());
            }
            self.0 = true;
            context.waker().wake_by_ref();
            Poll::Pending
        }
    }

    Yield(false)
}

/// The message of a panic.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    if let Some(message) = panic.downcast_ref::<&str>() {
        message
    } else if let Some(message) = panic.downcast_ref::<String>() {
        message
    } else {
        "a panic without a message"
    }
}
