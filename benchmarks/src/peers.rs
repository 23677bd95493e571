//! The library compared with SQLite and redb by hand, at sizes of real applications.
//!
//! Each system holds the same documents in a file of its own, and does the same [work](workloads), in turns. Their answers are compared by
//! [digests](digest), before and after writes.

mod checks;
mod data;
mod digest;
mod engines;
mod group_commit;
mod killed;
mod library;
mod raw_redb;
mod report;
mod sample;
mod sqlite;
#[cfg(feature = "surrealdb")]
mod surreal;
mod system;
#[cfg(feature = "turso")]
mod turso;
mod workloads;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

pub(crate) use self::killed::{WriterOptions, write_until_killed};
use self::{
    engines::Engine, killed::open_after_kill, library::Library, report::Report, sample::sample,
    system::System, workloads::WORKLOADS,
};

/// The cache of the library and of redb. SQLite maps its whole file instead.
const CACHE: usize = 1 << 30;

/// The name of the row for opening after a kill, which is not a workload.
const OPEN: &str = "open";

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of measured rounds, after a shorter one that is not counted.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// Only these rows, as in `1,2,6B64`. The report is only printed.
    #[arg(long, value_delimiter = ',', value_parser = row)]
    rows: Vec<&'static str>,
    /// The time of each row, in percent of the usual one. If it is given, the report is only printed.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    scale: Option<u64>,
    /// Only these systems, or others that were built with a feature. The report is only printed.
    #[arg(long, value_delimiter = ',')]
    systems: Vec<Engine>,
    /// Only print the report, and leave docs/benchmarks.md as it is.
    #[arg(long)]
    no_write: bool,
    /// Compare all derived data of the library with its sources, before and after.
    #[arg(long)]
    audit: bool,
    /// The folder for the files, of which the loaded ones are kept for the next run.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/target/data"))]
    data: PathBuf,
}

fn row(name: &str) -> Result<&'static str, String> {
    let mut rows = WORKLOADS.iter().map(|workload| workload.row).chain([OPEN]);
    rows.find(|row| *row == name).ok_or_else(|| {
        let rows: Vec<_> = WORKLOADS.iter().map(|workload| workload.row).collect();
        format!("the rows are {} and {OPEN}", rows.join(", "))
    })
}

impl Options {
    fn engines(&self) -> Vec<Engine> {
        if self.systems.is_empty() {
            return Engine::USUAL.to_vec();
        }
        let mut engines = self.systems.clone();
        engines.sort();
        engines.dedup();
        engines
    }

    fn includes(&self, row: &str) -> bool {
        self.rows.is_empty() || self.rows.contains(&row)
    }

    /// Whether the report covers a part of the work alone, and must not replace the whole report.
    fn is_partial(&self) -> bool {
        !self.rows.is_empty() || !self.systems.is_empty() || self.scale.is_some()
    }
}

pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let mut report = Report {
        rounds: options.rounds,
        ..Report::default()
    };
    let engines = options.engines();
    let folder = &options.data;
    std::fs::create_dir_all(folder)?;
    for &engine in &engines {
        report.loaded.insert(engine, engine.load(folder).await?);
    }
    if options.audit && engines.contains(&Engine::Odm) {
        let copy = Engine::Odm.copy(folder);
        Engine::Odm.make_copy(folder, &copy)?;
        report.audited = Some(audit(&copy).await?);
    }
    let mut systems: Vec<Arc<dyn System>> = Vec::new();
    for &engine in &engines {
        for system in engine.open_all(folder).await? {
            report.systems.push((system.name(), engine));
            systems.push(system);
        }
    }
    checks::same_answers(&systems).await?;
    eprintln!("all systems give the same answers");
    for round in 0..=options.rounds {
        measure(&systems, round, &options, &mut report).await?;
    }
    checks::still_right(&systems).await?;
    eprintln!("all systems are still right");
    for system in systems {
        system.close().await?;
    }
    for &engine in engines.iter().filter(|_| options.includes(OPEN)) {
        let opened = report.opened.entry(engine).or_default();
        for round in 0..options.rounds {
            opened.push(open_after_kill(engine, &engine.copy(folder), round).await?);
        }
    }
    if options.audit && engines.contains(&Engine::Odm) {
        audit(&Engine::Odm.copy(folder)).await?;
    }
    for engine in engines {
        engine.remove_copies(folder)?;
    }
    let markdown = report.markdown();
    println!("{markdown}");
    if !options.no_write && !options.is_partial() {
        let path = report::write(&markdown)?;
        eprintln!("written to {}", path.display());
    }
    Ok(())
}

/// Runs all rows on all systems. The systems take turns at being first. The first round is a warm-up.
async fn measure(
    systems: &[Arc<dyn System>],
    round: u64,
    options: &Options,
    report: &mut Report,
) -> anyhow::Result<()> {
    let start = Instant::now();
    let percent = match (round, options.scale.unwrap_or(100)) {
        (0, percent) => percent / 3,
        (_, percent) => percent,
    };
    let rows = WORKLOADS
        .iter()
        .filter(|workload| options.includes(workload.row));
    for workload in rows {
        for nth in 0..systems.len() {
            let system = &systems[(nth + round as usize) % systems.len()];
            let sample = sample(system, workload, percent, round << 20).await?;
            if let (Some(sample), 1..) = (sample, round) {
                let key = (workload.row, system.name());
                report.samples.entry(key).or_default().push(sample);
            }
        }
    }
    eprintln!(
        "round {round} of {}: {:.1?}",
        options.rounds,
        start.elapsed()
    );
    Ok(())
}

/// Compares all derived data of the library with its sources, and returns the time.
async fn audit(path: &Path) -> anyhow::Result<Duration> {
    let library = Library::open(path).await?;
    let start = Instant::now();
    let findings = library.audit().await?;
    let took = start.elapsed();
    anyhow::ensure!(findings == 0, "the audit has {findings} findings");
    library.close().await?;
    Ok(took)
}
