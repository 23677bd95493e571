//! Processes that write random histories, several tasks at once, are killed at random moments; the remaining documents are right in every
//! definition.

use std::time::Duration;

use odm::{Embedded, prelude::*};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use tests::killed::{Kill, run_and_kill};

use super::{
    Works, assert_right,
    history::{Op, op, run},
};

const PATH: &str = "ODM_TESTS_RELATIONS_FILE";
const ROUND: &str = "ODM_TESTS_RELATIONS_ROUND";
/// Fixes the histories and the moments of the kills.
const SEED: &str = "ODM_TESTS_SEED";

/// The line that the child prints after a step.
const TAKEN: &str = "a step is taken";

const KILLS: u64 = 12;
const TASKS: u64 = 3;

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(Config::default(), rng)
}

/// The child process: writes until it is killed.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_that_writes() {
    let Some(path) = std::env::var_os(PATH) else {
        return;
    };
    let round: u64 = std::env::var(ROUND).unwrap().parse().unwrap();
    // Ends this process even if the parent does not.
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(60));
        std::process::exit(1);
    });
    tests::run(async {
        let db = Works::open(Embedded::open(&path).await.unwrap()).await.unwrap();
        let mut tasks = Vec::new();
        for task in 0..TASKS {
            let db = db.clone();
            let mut runner = runner(round * TASKS + task);
            let op = op();
            let next = || op.new_tree(&mut runner).unwrap().current();
            // More writes than there is time for.
            let history: Vec<Op> = std::iter::repeat_with(next).take(4_000).collect();
            tasks.push(tokio::spawn(async move {
                for op in history {
                    // Refused writes are a part of the history.
                    let _ = run(&db, op).await;
                    println!("{TAKEN}");
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn a_killed_process_leaves_every_definition_true() {
    let seed: u64 = match std::env::var(SEED) {
        Ok(seed) => seed.parse().expect("the seed is a number"),
        Err(_) => std::time::UNIX_EPOCH.elapsed().unwrap().as_secs(),
    };
    println!("to have the same again: {SEED}={seed}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("works.odm");
    let mut moments = runner(seed);
    let mut steps = 0;
    for round in 0..KILLS {
        let after = (0..600_u64).new_tree(&mut moments).unwrap().current();
        let kill = Kill::AfterLine(TAKEN, Duration::from_millis(after));
        let variables =
            [(PATH, path.to_str().unwrap()), (ROUND, &seed.wrapping_add(round).to_string())];
        let told = run_and_kill("relations::crash::child_that_writes", &variables, kill);
        steps += told.iter().filter(|line| *line == TAKEN).count();
        tests::run(async {
            let store = Embedded::open(&path).await.unwrap();
            store.check_integrity().await.unwrap();
            let db = Works::open(store).await.unwrap();
            assert_right(&db).await;
        });
    }
    assert!(steps > 5 * KILLS as usize, "the processes were killed before they wrote: {steps}");
}
