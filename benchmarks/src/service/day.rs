//! The writes of a day, as fast as they go: what the files, the memory and the descriptors of the process are after each hour of them.

use std::{
    fs,
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use anyhow::ensure;

use super::{PAGES, POSTS_OF_A_TOPIC, Service, System, TOPICS, library::Library};
use crate::shared::{
    measure::written_bytes,
    random::Random,
    table::{Table, thousands},
};

const HOURS: u64 = 24;
const TASKS: u64 = 8;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The writes a second of the day: nine of ten count a view of a page of 6 KB, one inserts a post and deletes an old one.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=50))]
    a_second: u64,
}

/// What the process holds at a moment.
struct Held {
    files: u64,
    log: u64,
    resident: u64,
    descriptors: usize,
}

fn held(folder: &Path) -> anyhow::Result<Held> {
    let mut held = Held {
        files: 0,
        log: 0,
        resident: 0,
        descriptors: fs::read_dir("/proc/self/fd")?.count(),
    };
    for file in fs::read_dir(folder)? {
        let file = file?;
        let len = file.metadata()?.len();
        held.files += len;
        if file.path().extension().is_some_and(|end| end == "log") {
            held.log += len;
        }
    }
    let pages = fs::read_to_string("/proc/self/statm")?;
    let resident = pages.split(' ').nth(1).unwrap_or_default();
    held.resident = 4096 * resident.parse::<u64>()?;
    Ok(held)
}

/// The writes of one task in an hour. The number of posts stays the same: each insert is followed by the delete of an old post.
async fn work(
    system: Arc<System<Library>>,
    hour: u64,
    task: u64,
    writes: u64,
) -> anyhow::Result<()> {
    let mut random = Random(hour << 40 | task << 32);
    let first = (hour * TASKS + task) * writes;
    for number in first..first + writes {
        if number % 10 == 0 {
            let id = TOPICS * POSTS_OF_A_TOPIC + 1 + (number / 10) as i64;
            system.service.post(id, 1 + id % TOPICS).await?;
            system
                .service
                .forget(id - TOPICS * POSTS_OF_A_TOPIC)
                .await?;
        } else {
            system
                .service
                .view(1 + random.below(PAGES as u64) as i64)
                .await?;
            system.views.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let system = System::new(Library::load(&folder.path().join("service.odm")).await?);
    let writes = options.a_second * 3_600 / TASKS / 10 * 10;
    let mut table = Table::new(
        1,
        [
            "hour",
            "files, MiB",
            "of these the log",
            "memory, MiB",
            "descriptors",
            "written, MiB",
        ],
    );
    let begin = written_bytes();
    let mut early = None;
    for hour in 0..=HOURS {
        let now = held(folder.path())?;
        let mib = |bytes: u64| thousands(bytes >> 20);
        let written = written_bytes()
            .zip(begin)
            .map(|(after, before)| after - before);
        table.row([
            hour.to_string(),
            mib(now.files),
            mib(now.log),
            mib(now.resident),
            now.descriptors.to_string(),
            written.map_or_else(String::new, mib),
        ]);
        if hour == HOURS {
            let early: &Held = early.get_or_insert(now);
            let last = held(folder.path())?;
            ensure!(
                last.descriptors <= early.descriptors,
                "descriptors are left open"
            );
            ensure!(last.files <= 2 * early.files, "the files grow");
            break;
        }
        if hour == 2 {
            early = Some(now);
        }
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| tokio::spawn(work(system.clone(), hour, task, writes)))
            .collect();
        for task in tasks {
            task.await??;
        }
    }
    println!(
        "{} writes a second, {} in all\n",
        options.a_second,
        thousands(HOURS * TASKS * writes)
    );
    print!("{table}");
    system.close().await
}
