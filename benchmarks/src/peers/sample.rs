//! Runs a workload on a system for a while.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    system::{Operation, System, if_there},
    workloads::Workload,
};
use crate::shared::{
    measure::{micros, percentile, processor_time},
    random::Random,
};

/// The result of a workload in one round of a system.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    /// Operations, or documents, per second.
    pub(super) throughput: f64,
    /// The processor time of all threads per operation or document, in µs.
    pub(super) processor: f64,
    /// Percentiles of the time of an operation, in µs.
    pub(super) p50: f64,
    pub(super) p99: f64,
}

/// Does the operations of a workload one after the other, in each of its tasks. Returns `None` if the system has no own way to do them.
pub(super) async fn sample(
    system: &Arc<dyn System>,
    workload: &'static Workload,
    percent: u64,
    seed: u64,
) -> anyhow::Result<Option<Sample>> {
    let time = Duration::from_millis(workload.millis * percent / 100);
    let before = processor_time()?;
    let start = Instant::now();
    let tasks: Vec<_> = (1..=workload.tasks)
        .map(|task| {
            let random = Random(seed ^ (task << 40));
            tokio::spawn(repeat(system.clone(), workload, start + time, random))
        })
        .collect();
    let (mut times, mut documents) = (Vec::new(), 0);
    for task in tasks {
        let Some(done) = if_there(task.await?)? else {
            return Ok(None);
        };
        times.extend(done.times);
        documents += done.documents;
    }
    let took = start.elapsed().as_secs_f64();
    let processor = processor_time()? - before;
    times.sort_unstable();
    let count = match workload.counts_documents {
        true => documents as f64,
        false => times.len() as f64,
    };
    Ok(Some(Sample {
        throughput: count / took,
        processor: micros(processor) / count,
        p50: micros(percentile(&times, 0.5)),
        p99: micros(percentile(&times, 0.99)),
    }))
}

struct Done {
    times: Vec<Duration>,
    documents: u64,
}

/// Repeats the operation until the time is over, but at least once.
async fn repeat(
    system: Arc<dyn System>,
    workload: &Workload,
    end: Instant,
    mut random: Random,
) -> anyhow::Result<Done> {
    let most = workload.most.div_ceil(workload.tasks as usize);
    let mut done = Done {
        times: Vec::with_capacity(4096),
        documents: 0,
    };
    loop {
        let operation = (workload.operation)(&mut random);
        let start = Instant::now();
        done.documents += match workload.is_spawned {
            true => spawned(system.clone(), operation).await?,
            false => system.run(operation).await?,
        };
        let now = Instant::now();
        done.times.push(now - start);
        if now >= end || done.times.len() >= most {
            return Ok(done);
        }
    }
}

async fn spawned(system: Arc<dyn System>, operation: Operation) -> anyhow::Result<u64> {
    tokio::spawn(async move { system.run(operation).await }).await?
}
