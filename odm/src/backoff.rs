//! Waits after lost conflicts.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_millis(500);

/// Growing random waits, so that the losers of a conflict do not collide again. The waits are as long as in `withTransaction` of MongoDB's
/// specification.
#[derive(Debug)]
pub(crate) struct Backoff {
    /// The next wait is shorter.
    bound: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff { bound: FIRST }
    }
}

impl Backoff {
    pub(crate) async fn wait(&mut self) {
        tokio::time::sleep(self.bound.mul_f64(fastrand::f64())).await;
        self.bound = LONGEST.min(self.bound.mul_f64(1.5));
    }
}
