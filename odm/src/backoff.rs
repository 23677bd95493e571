//! Waits of those that have lost a conflict.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_millis(500);

/// Random waits that grow, so that those that have lost do not meet again. They are those that MongoDB's specification has for
/// `withTransaction`.
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
