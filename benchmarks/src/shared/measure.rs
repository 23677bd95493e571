//! The cost of work: time, processor time, and touched data in the store.

use std::time::{Duration, Instant};

use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeVal,
};
use odm::store::Cost;

/// The median of at least one time.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The median of at least one number.
pub(crate) fn median_number(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// The percentile of sorted times, with `part` from 0 to 1.
pub(crate) fn percentile(sorted: &[Duration], part: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * part) as usize]
}

pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The processor time of this process so far: of all threads, in user and in kernel mode.
///
/// Unlike the elapsed time, it is comparable on a machine that is busy with other work.
pub(crate) fn processor_time() -> anyhow::Result<Duration> {
    processor_time_of(UsageWho::RUSAGE_SELF)
}

/// The processor time of all ended programs that this process has started.
pub(crate) fn processor_time_of_programs() -> anyhow::Result<Duration> {
    processor_time_of(UsageWho::RUSAGE_CHILDREN)
}

fn processor_time_of(who: UsageWho) -> anyhow::Result<Duration> {
    let usage = getrusage(who)?;
    let duration = |time: TimeVal| {
        Duration::from_secs(time.tv_sec() as u64) + Duration::from_micros(time.tv_usec() as u64)
    };
    Ok(duration(usage.user_time()) + duration(usage.system_time()))
}

/// How many bytes this process has given to the system to write so far, on Linux.
pub(crate) fn written_bytes() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/self/io").ok()?;
    let written = counts
        .lines()
        .find_map(|line| line.strip_prefix("wchar: "))?;
    written.parse().ok()
}

/// Does some work, and returns its time and the touched data.
pub(crate) async fn timed<T>(
    work: impl IntoFuture<Output = odm::Result<T>>,
) -> odm::Result<(Duration, Touched)> {
    let start = Instant::now();
    let (result, cost) = odm::measure(work.into_future()).await;
    let took = start.elapsed();
    result.map(|_| (took, cost.into()))
}

/// The data in the store that some work has touched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Touched {
    pub(crate) keys_examined: u64,
    pub(crate) documents_examined: u64,
    pub(crate) documents_written: u64,
}

impl From<Cost> for Touched {
    fn from(cost: Cost) -> Self {
        Touched {
            keys_examined: cost.keys_examined,
            documents_examined: cost.documents_examined,
            documents_written: cost.documents_written,
        }
    }
}

impl Touched {
    /// The larger value of each figure.
    pub(crate) fn max(self, other: Touched) -> Touched {
        Touched {
            keys_examined: self.keys_examined.max(other.keys_examined),
            documents_examined: self.documents_examined.max(other.documents_examined),
            documents_written: self.documents_written.max(other.documents_written),
        }
    }
}
