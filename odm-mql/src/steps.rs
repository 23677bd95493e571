//! The count of steps, by which tests see how the cost of an operation grows with its input.
//!
//! A step is one round of a loop over the input: a comparison of values, a field that a lookup passes by, a range of a plan, an entry of an
//! index, a document. Without the feature `__steps` nothing is counted.

#[cfg(feature = "__steps")]
mod counter {
    use std::{
        cell::Cell,
        sync::atomic::{AtomicU64, Ordering},
    };

    static STEPS: AtomicU64 = AtomicU64::new(0);

    thread_local! {
        static OF_THREAD: Cell<u64> = const { Cell::new(0) };
    }

    pub(super) fn add(steps: u64) {
        STEPS.fetch_add(steps, Ordering::Relaxed);
        OF_THREAD.with(|counted| counted.set(counted.get() + steps));
    }

    /// The steps of this thread since the last call.
    pub fn steps_of_thread() -> u64 {
        OF_THREAD.take()
    }

    /// The steps of this process since it began, of all threads.
    pub fn steps() -> u64 {
        STEPS.load(Ordering::Relaxed)
    }
}

#[cfg(feature = "__steps")]
pub use counter::{steps, steps_of_thread};

/// Counts a step.
#[inline(always)]
pub fn step() {
    many(1);
}

/// Counts several steps.
#[inline(always)]
pub fn many(steps: usize) {
    #[cfg(feature = "__steps")]
    counter::add(steps as u64);
    #[cfg(not(feature = "__steps"))]
    let _ = steps;
}
