//! A process that is killed at random moments, again and again, on one file.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    sync::Arc,
    time::Duration,
};

use odm::Embedded;
use tests::killed::{Kill, run_and_kill};

use crate::ledger::ledger;

const PATH: &str = "ODM_TESTS_CRASH_FILE";
const ROUND: &str = "ODM_TESTS_CRASH_ROUND";
/// Fixes when the process is killed.
const SEED: &str = "ODM_TESTS_SEED";

const KILLS: i64 = 25;
const TASKS: i64 = 64;

/// Tells the parent something, at once and as a whole line.
fn tell(sign: char, id: i64) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{sign}{id}").unwrap();
    out.flush().unwrap();
}

/// The child process: writes units until it is killed, and tells of each when it is acknowledged. In every other
/// round it compacts the store all the while.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_that_writes() {
    let Some(path) = std::env::var_os(PATH) else {
        return;
    };
    let round: i64 = std::env::var(ROUND).unwrap().parse().unwrap();
    // Whatever becomes of the parent, this comes to an end.
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(60));
        std::process::exit(1);
    });
    tests::run(async {
        let store = Embedded::open(&path).await.unwrap();
        let db = Arc::new(ledger(store.clone()).await);
        let mut tasks = Vec::new();
        if round % 2 == 1 {
            tasks.push(tokio::spawn(async move {
                for compaction in 0.. {
                    store.compact().await.unwrap();
                    tell('c', compaction);
                }
            }));
        }
        for task in 0..TASKS {
            let db = db.clone();
            tasks.push(tokio::spawn(async move {
                for unit in 0.. {
                    let id = (round * TASKS + task) * 100_000 + unit;
                    db.write(id, 1 + id % 5).await.unwrap();
                    tell('+', id);
                    if unit % 3 == 2 {
                        tell('?', id - 1);
                        db.remove(id - 1).await.unwrap();
                        tell('-', id - 1);
                    }
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// What the parent was told of a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Written,
    /// Perhaps removed.
    Removing,
    Removed,
}

/// Records what a child acknowledged. Returns how many units it wrote.
fn record(lines: &[String], told: &mut BTreeMap<i64, State>) -> usize {
    let mut written = 0;
    for line in lines {
        let id = |rest: &str| rest.parse::<i64>().ok();
        // The test harness has lines of its own.
        let (state, id) = match (line.get(..1), line.get(1..).and_then(id)) {
            (Some("+"), Some(id)) => (State::Written, id),
            (Some("?"), Some(id)) => (State::Removing, id),
            (Some("-"), Some(id)) => (State::Removed, id),
            _ => continue,
        };
        written += usize::from(state == State::Written);
        told.insert(id, state);
    }
    written
}

/// A small generator, so that the moments can be had again.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[test]
fn a_process_killed_25_times_keeps_every_acknowledged_unit_and_no_part_of_another() {
    let mut seed = match std::env::var(SEED) {
        Ok(seed) => seed.parse().expect("the seed is a number"),
        Err(_) => {
            let now = std::time::UNIX_EPOCH.elapsed().unwrap();
            now.as_nanos() as u64
        }
    };
    println!("to have the same moments again: {SEED}={seed}");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.odm");
    let mut told = BTreeMap::new();
    let (mut written, mut compactions) = (0, 0);
    for round in 0..KILLS {
        // From before the file is open to well into the writing.
        let after = Duration::from_millis(5 + next(&mut seed) % 300);
        let kill = match round % 5 {
            0 => Kill::AfterStart(after),
            _ => Kill::AfterLine("+", after),
        };
        let variables = [(PATH, path.to_str().unwrap()), (ROUND, &round.to_string())];
        let lines = run_and_kill("crash::child_that_writes", &variables, kill);
        written += record(&lines, &mut told);
        compactions += lines.iter().filter(|line| line.starts_with('c')).count();
        tests::run(async {
            // Sometimes with all checksums verified.
            let store = Embedded::builder()
                .check(round % 3 == 0)
                .open(&path)
                .await
                .unwrap();
            store.check_integrity().await.unwrap();
            let files: Vec<_> = std::fs::read_dir(&directory).unwrap().flatten().collect();
            // Nothing is left of a new file that was not whole.
            assert!(files.len() <= 2, "{files:?}");
            let db = ledger(store).await;
            let there: BTreeSet<i64> = db.whole().await.into_iter().collect();
            for (id, state) in &told {
                match (state, there.contains(id)) {
                    (State::Written, false) => panic!("round {round}: batch {id} is lost"),
                    (State::Removed, true) => panic!("round {round}: batch {id} is back"),
                    _ => {}
                }
            }
            // What was written last may be there without the acknowledgement: a few at most.
            let unknown = there.iter().filter(|id| !told.contains_key(id)).count() as i64;
            assert!(
                unknown <= TASKS * (round + 1),
                "{unknown} units were never told of"
            );
        });
    }
    assert!(
        written > 100,
        "the processes were killed before they wrote: {written}"
    );
    assert!(compactions > 0, "no process has compacted the store");
}
