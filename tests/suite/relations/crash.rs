//! Processes that write random histories, several tasks at once, are killed at random moments; what
//! they leave is right in every definition.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use odm::{Embedded, prelude::*};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use super::{
    Works, assert_right,
    history::{Op, op, run},
};

const PATH: &str = "ODM_TESTS_RELATIONS_FILE";
const ROUND: &str = "ODM_TESTS_RELATIONS_ROUND";
/// Fixes the histories and when the processes are killed.
const SEED: &str = "ODM_TESTS_SEED";

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
    // Whatever becomes of the parent, this comes to an end.
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(20));
        std::process::exit(1);
    });
    tests::run(async {
        let db = Works::open(Embedded::open(&path).await.unwrap())
            .await
            .unwrap();
        let mut tasks = Vec::new();
        for task in 0..TASKS {
            let db = db.clone();
            let mut runner = runner(round * TASKS + task);
            let op = op();
            let next = || op.new_tree(&mut runner).unwrap().current();
            // More than there is time for.
            let history: Vec<Op> = std::iter::repeat_with(next).take(400).collect();
            tasks.push(tokio::spawn(async move {
                for op in history {
                    // What is refused is part of the history.
                    let _ = run(&db, op).await;
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    });
}

fn run_and_kill(path: &Path, round: u64, after: Duration) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "crash::child_that_writes",
            "--nocapture",
        ])
        .env(PATH, path)
        .env(ROUND, round.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        !errors.contains("panicked"),
        "the child failed by itself: {errors}"
    );
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
    let mut written = 0;
    for round in 0..KILLS {
        let after = (50..700_u64).new_tree(&mut moments).unwrap().current();
        run_and_kill(
            &path,
            seed.wrapping_add(round),
            Duration::from_millis(after),
        );
        tests::run(async {
            let store = Embedded::open(&path).await.unwrap();
            store.check_integrity().await.unwrap();
            let db = Works::open(store).await.unwrap();
            let all = assert_right(&db).await;
            written += all.products.len() + all.people.len() + all.reviews.len();
        });
    }
    assert!(
        written > 20,
        "the processes were killed before they wrote: {written}"
    );
}
