//! A process that is killed at random moments, again and again, on one file. `KILLS` is the number of kills, and `SEED` fixes the moments.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    mem,
    sync::Arc,
    time::Duration,
};

use odm::{
    Embedded,
    mql::Direction,
    store::contract::{CollectionSpec, IndexSpec, Store},
};
use tests::killed::{Kill, Moments, kills, run_and_kill};

use crate::durability::ledger::ledger;

const PATH: &str = "ODM_TESTS_CRASH_FILE";
const ROUND: &str = "ODM_TESTS_CRASH_ROUND";
/// How many rounds a file is for: a file that has grown for longer takes long to check.
pub(super) const ROUNDS: i64 = 50;

const TASKS: i64 = 64;

/// Sends a report to the parent, at once and as a whole line.
fn tell(sign: char, id: i64) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{sign}{id}").unwrap();
    out.flush().unwrap();
}

/// Makes an index and removes it again, until the process is killed.
async fn build_indexes(store: Embedded) {
    let index = IndexSpec {
        name: "texts".to_owned(),
        keys: vec![("text".to_owned(), Direction::Ascending)],
        unique: false,
        present_only: false,
        case_insensitive: false,
        collation: None,
        filter: None,
    };
    for build in 0.. {
        let mut entries =
            CollectionSpec { name: "entries".to_owned(), ..CollectionSpec::default() };
        entries.indexes.push(index.clone());
        store.ensure(&[entries.clone()]).await.unwrap();
        tell('i', build);
        mem::swap(&mut entries.indexes, &mut entries.obsolete);
        store.ensure(&[entries]).await.unwrap();
    }
}

/// The child process: writes units until it is killed, and reports each when it is acknowledged. In three of four rounds it compacts the
/// store all the while, or builds indexes, or both.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_that_writes() {
    let Some(path) = std::env::var_os(PATH) else {
        return;
    };
    let round: i64 = std::env::var(ROUND).unwrap().parse().unwrap();
    // Ends this process even if the parent does not.
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(60));
        std::process::exit(1);
    });
    tests::run(async {
        let store = Embedded::open(&path).await.unwrap();
        let db = Arc::new(ledger(store.clone()).await);
        let mut tasks = Vec::new();
        if round % 4 >= 2 {
            tasks.push(tokio::spawn(build_indexes(store.clone())));
        }
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

/// The last report to the parent about a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Written,
    /// Perhaps removed.
    Removing,
    Removed,
}

/// Records the acknowledgements of a child. Returns how many units it wrote.
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

#[test]
fn a_process_killed_again_and_again_keeps_every_acknowledged_unit_and_no_part_of_another() {
    let mut moments = Moments::begin();
    let mut directory = tempfile::tempdir().unwrap();
    let mut told = BTreeMap::new();
    let (mut written, mut compactions, mut builds) = (0, 0, 0);
    for round in 0..kills(25) as i64 {
        if round > 0 && round % ROUNDS == 0 {
            directory = tempfile::tempdir().unwrap();
            told.clear();
        }
        let path = directory.path().join("ledger.odm");
        // From before the file is open to well into the writing.
        let after = Duration::from_millis(5 + moments.below(300));
        let kill = match round % 5 {
            0 => Kill::AfterStart(after),
            _ => Kill::AfterLine("+", after),
        };
        let variables = [(PATH, path.to_str().unwrap()), (ROUND, &round.to_string())];
        let lines = run_and_kill("durability::crash::child_that_writes", &variables, kill);
        written += record(&lines, &mut told);
        let told_of = |sign: char| lines.iter().filter(|line| line.starts_with(sign)).count();
        compactions += told_of('c');
        builds += told_of('i');
        tests::run(async {
            // Sometimes with all checksums verified.
            let store = Embedded::builder().check(round % 3 == 0).open(&path).await.unwrap();
            store.check_integrity().await.unwrap();
            // No unfinished new file of the killed process is left. This process may be making its log.
            let own = format!("ledger.odm.log.new-{}-", std::process::id());
            for file in std::fs::read_dir(&directory).unwrap() {
                let name = file.unwrap().file_name().into_string().unwrap();
                let is_known = ["ledger.odm", "ledger.odm.log"].contains(&&*name);
                assert!(is_known || name.starts_with(&own), "{name}");
            }
            let db = ledger(store).await;
            let there: BTreeSet<i64> = db.whole().await.into_iter().collect();
            for (id, state) in &told {
                match (state, there.contains(id)) {
                    (State::Written, false) => panic!("round {round}: batch {id} is lost"),
                    (State::Removed, true) => panic!("round {round}: batch {id} is back"),
                    _ => {}
                }
            }
            // The last units may be there without the acknowledgement: a few at most.
            let unknown = there.iter().filter(|id| !told.contains_key(id)).count() as i64;
            assert!(unknown <= TASKS * (round % ROUNDS + 1), "{unknown} units were never told of");
        });
    }
    assert!(written > 100, "the processes were killed before they wrote: {written}");
    assert!(compactions > 0, "no process has compacted the store");
    assert!(builds > 0, "no process has built an index");
}
