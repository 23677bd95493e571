//! The bound on the steps of matches.

use std::cell::Cell;

/// The most steps of all regular expressions that match a document by backtracking. They take less than a tenth of a
/// second.
const MOST: u64 = 2_000_000;

/// The remaining steps for the matches of a document: 2,000,000 at first.
#[derive(Debug)]
pub struct Steps {
    left: Cell<u64>,
    #[cfg(feature = "__steps")]
    made: Cell<u64>,
}

impl Default for Steps {
    fn default() -> Self {
        Steps {
            left: Cell::new(MOST),
            #[cfg(feature = "__steps")]
            made: Cell::new(0),
        }
    }
}

impl Steps {
    /// Takes some steps. If there are fewer, takes all of them and returns `false`.
    pub(crate) fn take(&self, steps: u64) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }

    /// Counts a step in the search itself, independent of `take`, so that tests find steps that are not taken.
    #[inline(always)]
    pub(crate) fn step(&self) {
        #[cfg(feature = "__steps")]
        self.made.set(self.made.get() + 1);
    }

    /// The steps that were made since the last call.
    #[cfg(feature = "__steps")]
    #[doc(hidden)]
    pub fn made(&self) -> u64 {
        self.made.take()
    }
}
