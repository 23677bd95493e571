//! The results as Markdown, and their place in `docs/benchmarks.md`.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use odm::DateTime;

use super::{
    engines::{Engine, Loaded},
    sample::Sample,
    workloads::{WORKLOADS, Workload},
};
use crate::shared::{
    measure::{median, median_number, millis},
    table::{Table, figure, thousands},
};

/// All measurements.
#[derive(Default)]
pub(super) struct Report {
    pub(super) rounds: u64,
    /// The names of the systems, in the order of their columns, with their engines.
    pub(super) systems: Vec<(&'static str, Engine)>,
    /// The samples, by row and system.
    pub(super) samples: BTreeMap<(&'static str, &'static str), Vec<Sample>>,
    pub(super) loaded: BTreeMap<Engine, Loaded>,
    pub(super) opened: BTreeMap<Engine, Vec<Duration>>,
    pub(super) audited: Option<Duration>,
}

impl Report {
    /// The report in Markdown.
    pub(super) fn markdown(&self) -> String {
        let mut text = String::new();
        let date = DateTime::now().to_string();
        let date = date.split_once('T').map_or(date.as_str(), |(day, _)| day);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let _ = writeln!(
            text,
            "Measured on {date} on {cores} cores, medians of {}: {}.\n",
            match self.rounds {
                1 => "one round".to_owned(),
                rounds => format!("{rounds} rounds"),
            },
            versions(&self.loaded),
        );
        let _ = writeln!(text, "{}", self.workloads());
        let _ = write!(text, "{}", self.files());
        text
    }

    fn workloads(&self) -> Table {
        let names = self.systems.iter().map(|(name, _)| *name);
        let columns = ["row", "work"].into_iter().chain(names);
        let peers = self.peers();
        let ratios = peers.iter().map(|peer| match peer {
            Engine::Rusqlite => "odm / best SQLite".to_owned(),
            peer => format!("odm / {}", peer.name()),
        });
        let columns = columns.map(str::to_owned).chain(ratios);
        let mut table = Table::new(2, columns);
        for workload in self.lost_first() {
            let cells: Vec<Option<String>> = self
                .systems
                .iter()
                .map(|(name, _)| Some(cell(self.samples.get(&(workload.row, *name))?)))
                .collect();
            if cells.iter().all(Option::is_none) {
                continue;
            }
            let texts = [workload.row, workload.work].map(str::to_owned);
            let cells = cells.into_iter().map(Option::unwrap_or_default);
            let ratios = peers.iter().map(|&peer| self.ratio(workload, peer));
            let ratios =
                ratios.map(|ratio| ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")));
            table.row(texts.into_iter().chain(cells).chain(ratios));
        }
        table
    }

    /// The engines that the library is compared with, SQLite first.
    fn peers(&self) -> Vec<Engine> {
        let mut peers: Vec<Engine> = self.loaded.keys().copied().collect();
        peers.retain(|&engine| engine != Engine::Odm);
        peers.sort_by_key(|&engine| (engine != Engine::Rusqlite, engine));
        peers
    }

    /// The rows in which the library is slower than SQLite, and then the others. A row without a ratio stays behind the one before it.
    fn lost_first(&self) -> impl Iterator<Item = &'static Workload> {
        let mut is_lost = false;
        let (lost, others): (Vec<_>, Vec<_>) = WORKLOADS.iter().partition(|workload| {
            if let Some(ratio) = self.ratio(workload, Engine::Rusqlite) {
                is_lost = ratio < 1.0;
            }
            is_lost
        });
        lost.into_iter().chain(others)
    }

    /// The throughput of the library, as a multiple of that of the best system of another engine, which may have a group commit by hand.
    fn ratio(&self, workload: &Workload, peer: Engine) -> Option<f64> {
        let best = |engine: Engine| {
            let samples = self.samples.iter().filter(|((row, name), _)| {
                let is_row = *row == workload.row
                    || find(row).is_some_and(|other| other.without_group() == Some(workload.row));
                is_row && self.systems.contains(&(*name, engine))
            });
            samples
                .map(|(_, samples)| median_of(samples, |sample| sample.throughput))
                .max_by(f64::total_cmp)
        };
        Some(best(Engine::Odm)? / best(peer)?)
    }

    /// Loading, files and opening, by the engine. The ratios are of the peer to the library.
    fn files(&self) -> Table {
        let mut engines: Vec<Engine> = self.loaded.keys().copied().collect();
        engines.sort();
        let names = engines.iter().map(|engine| engine.name());
        let columns = ["row", "work"].into_iter().chain(names);
        let peers = self.peers();
        let ratios = peers.iter().map(|peer| format!("{} / odm", peer.name()));
        let mut table = Table::new(2, columns.map(str::to_owned).chain(ratios));
        let mut row = |name: &str, work: &str, value: &dyn Fn(Engine) -> Option<f64>| {
            if engines.iter().all(|&engine| value(engine).is_none()) {
                return;
            }
            let texts = [name, work].map(str::to_owned);
            let cells = engines.iter().map(|&engine| value(engine).map(figure));
            let cells: Vec<String> = cells.map(Option::unwrap_or_default).collect();
            let ratio = |peer: Engine| match (value(peer), value(Engine::Odm)) {
                (Some(peer), Some(library)) => format!("{:.2}", peer / library),
                _ => String::new(),
            };
            let ratios = peers.iter().map(|&peer| ratio(peer));
            table.row(texts.into_iter().chain(cells).chain(ratios));
        };
        let loaded = |engine| self.loaded.get(&engine);
        row("load", "loading all documents, s", &|engine| {
            Some(loaded(engine)?.seconds)
        });
        row("size", "size of the file, MiB", &|engine| {
            Some(loaded(engine)?.bytes as f64 / f64::from(1 << 20))
        });
        row("open", "open after `kill -9` of a writer, ms", &|engine| {
            Some(millis(median(self.opened.get(&engine)?.clone())))
        });
        row("audit", "`audit()` of the loaded file, ms", &|engine| {
            self.audited.filter(|_| engine == Engine::Odm).map(millis)
        });
        table
    }
}

fn find(row: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|workload| workload.row == row)
}

fn median_of(samples: &[Sample], figure: impl Fn(&Sample) -> f64) -> f64 {
    median_number(samples.iter().map(figure).collect())
}

fn cell(samples: &[Sample]) -> String {
    let throughput = median_of(samples, |sample| sample.throughput);
    let processor = figure(median_of(samples, |sample| sample.processor));
    let p50 = figure(median_of(samples, |sample| sample.p50));
    let p99 = figure(median_of(samples, |sample| sample.p99));
    let throughput = thousands(throughput.round() as u64);
    format!("{throughput} · {processor} · {p50} / {p99}")
}

/// The systems, with the versions in this program.
fn versions(engines: &BTreeMap<Engine, Loaded>) -> String {
    let version = |package: &str| {
        let lock = include_str!("../../Cargo.lock");
        let entry = lock.split_once(&format!("name = \"{package}\"\nversion = \""));
        let version = entry.and_then(|(_, rest)| rest.split('"').next());
        version.unwrap_or("of an unknown version").to_owned()
    };
    let mut versions = format!(
        "odm {}, redb {}, SQLite {} through rusqlite {}, tokio {}",
        version("typed-odm"),
        version("redb"),
        rusqlite::version(),
        version("rusqlite"),
        version("tokio"),
    );
    for (name, package) in [("SurrealDB", "surrealdb"), ("Turso", "turso")] {
        if engines.keys().any(|engine| engine.name() == name) {
            let _ = write!(versions, ", {name} {}", version(package));
        }
    }
    versions
}

const BEGIN: &str = "<!-- peers -->\n";
const END: &str = "<!-- /peers -->";

/// Puts the report between its two markers in `docs/benchmarks.md`.
pub(super) fn write(markdown: &str) -> anyhow::Result<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/benchmarks.md");
    let text = fs::read_to_string(&path)?;
    let (before, rest) = text
        .split_once(BEGIN)
        .context("the first mark is missing")?;
    let (_, after) = rest.split_once(END).context("the second mark is missing")?;
    fs::write(&path, format!("{before}{BEGIN}\n{markdown}\n{END}{after}"))?;
    Ok(path)
}
