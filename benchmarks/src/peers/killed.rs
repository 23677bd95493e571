//! How long it takes to open a file whose writer has been killed.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::ensure;
use clap::ValueEnum;

use super::{
    checks,
    data::new_review,
    engines::Engine,
    system::{Question, Write},
    workloads::any_visit,
};
use crate::shared::random::Random;

#[derive(Debug, clap::Args)]
pub(crate) struct WriterOptions {
    engine: Engine,
    path: PathBuf,
    /// The first id of the reviews that are inserted.
    first: i64,
}

const TASKS: i64 = 8;
/// The time after which a writing process is killed.
const WRITING: Duration = Duration::from_millis(500);
/// The line that the writer prints once it has opened the file.
const READY: &str = "ready";

/// Inserts reviews, and changes accounts.
pub(crate) async fn write_until_killed(options: WriterOptions) -> anyhow::Result<()> {
    let system = options.engine.open(&options.path).await?;
    println!("{READY}");
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..TASKS {
        let system = system.clone();
        tasks.spawn(async move {
            let mut random = Random(task as u64);
            for id in (options.first + task..).step_by(TASKS as usize) {
                let review = new_review(id, &mut random);
                system.write(Write::PageReview(review)).await?;
                system.write(any_visit(&mut random)).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}

/// Kills a process that writes to the file, and returns the time to open it and read the first document.
pub(super) async fn open_after_kill(
    engine: Engine,
    path: &Path,
    round: u64,
) -> anyhow::Result<Duration> {
    let name = engine.to_possible_value().expect("every engine has a name");
    // No other round and no workload uses these ids.
    let first = (1 + round as i64) << 40;
    let mut writer = Command::new(std::env::current_exe()?)
        .args(["peers-writer", name.get_name()])
        .arg(path)
        .arg(first.to_string())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    if let Some(output) = writer.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    std::thread::sleep(WRITING);
    let has_ended = writer.try_wait()?;
    writer.kill()?;
    writer.wait()?;
    ensure!(
        line.trim() == READY && has_ended.is_none(),
        "the writer of {} has ended by itself",
        engine.name()
    );
    let start = Instant::now();
    let system = engine.open(path).await?;
    system.ask(Question::Product(1)).await?;
    let took = start.elapsed();
    checks::right_subsets(system.as_ref(), 97).await?;
    system.close().await?;
    Ok(took)
}
