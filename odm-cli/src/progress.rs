//! Bars on the standard error, if it is a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The unit in which a bar counts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    Documents,
    Bytes,
}

/// How long work takes at least that has a bar.
const DELAY: Duration = Duration::from_millis(500);

/// A bar for long work, with its rate and the remaining time.
pub(crate) struct Progress {
    bar: ProgressBar,
    begun: Instant,
}

impl Progress {
    /// Begins the bar of a task, whose whole may be unknown: 0.
    pub(crate) fn new(task: &str, of: u64, unit: Unit) -> Progress {
        // indicatif draws nothing where the standard error is no terminal.
        let bar = ProgressBar::with_draw_target(Some(of), ProgressDrawTarget::stderr());
        let template = match unit {
            Unit::Documents => {
                "{msg} [{wide_bar}] {human_pos} of {human_len}, {per_sec}, {eta} left"
            }
            Unit::Bytes => {
                "{msg} [{wide_bar}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left"
            }
        };
        let style = ProgressStyle::with_template(template).expect("the template is valid");
        let bar = bar
            .with_style(style.progress_chars("=> "))
            .with_message(task.to_owned());
        let begun = Instant::now();
        Progress { bar, begun }
    }

    /// Shows how much is done.
    pub(crate) fn at(&self, done: u64, of: u64) {
        self.reporter()(done, of);
    }

    /// A function that shows how much is done, for work on another thread.
    pub(crate) fn reporter(&self) -> impl Fn(u64, u64) + Send + 'static {
        let (bar, begun) = (self.bar.clone(), self.begun);
        move |done, of| {
            if begun.elapsed() > DELAY {
                bar.set_length(of);
                bar.set_position(done);
            }
        }
    }

    /// Runs something that writes to the terminal while the bar is away.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    /// Removes the bar.
    pub(crate) fn end(self) {}
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
