//! One process at a time.

use std::{
    process::{Command, Output},
    thread,
    time::{Duration, Instant},
};

use odm::{ErrorKind, store::embedded::Embedded};

use crate::durability::ledger::ledger;

/// The variable by which a child process finds the path of the file.
const PATH: &str = "ODM_TESTS_LOCKED_FILE";
/// The variable with the time that it waits, in milliseconds.
const WAIT: &str = "ODM_TESTS_LOCK_WAIT";

/// The child process: prints the result of its opening.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_that_opens() {
    let Some(path) = std::env::var_os(PATH) else {
        return;
    };
    let wait = std::env::var(WAIT).unwrap().parse().unwrap();
    tests::run(async {
        let store = Embedded::builder().wait_for_lock(Duration::from_millis(wait));
        let kind = store.open(&path).await.map(drop).map_err(|error| error.kind());
        println!("\nopened: {kind:?}");
    });
}

fn child(path: &std::path::Path, wait: u64) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "durability::lock::child_that_opens", "--nocapture"])
        .env(PATH, path)
        .env(WAIT, wait.to_string());
    command
}

fn open_in_a_child(path: &std::path::Path) -> String {
    told(child(path, 0).output().unwrap())
}

fn told(output: Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("opened: "));
    line.unwrap_or_else(|| panic!("the child says nothing: {output:?}")).to_owned()
}

#[test]
fn a_file_that_is_open_is_locked_for_others() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.odm");
    tests::run(async {
        let store = Embedded::open(&path).await.unwrap();
        assert_eq!(open_in_a_child(&path), "Err(Locked)");
        let error = Embedded::open(&path).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked);
        assert!(error.to_string().contains("ledger.odm"), "{error}");

        let db = ledger(store.clone()).await;
        db.write(1, 3).await.unwrap();
        drop(store);
        assert_eq!(open_in_a_child(&path), "Err(Locked)", "the database holds it");
        drop(db);
        assert_eq!(open_in_a_child(&path), "Ok(())");
        let db = ledger(Embedded::open(&path).await.unwrap()).await;
        assert_eq!(db.whole().await, [1]);
    });
}

#[test]
fn the_next_process_waits_for_the_one_before() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("ledger.odm");
    tests::run(async {
        let store = Embedded::open(&path).await.unwrap();
        assert_eq!(told(child(&path, 100).output().unwrap()), "Err(Locked)");
        let mut next = child(&path, 60_000);
        let next = thread::spawn(move || next.output().unwrap());
        // Long enough for it to meet the lock; if it does not, it does not wait.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let db = ledger(store).await;
        db.write(1, 3).await.unwrap();
        drop(db);
        let closed = Instant::now();
        assert_eq!(told(next.join().unwrap()), "Ok(())");
        println!("the next process had opened the file, and ended, {:?} later", closed.elapsed());

        // Within one process, too, and without a time limit.
        let first = Embedded::open(&path).await.unwrap();
        let second =
            tokio::spawn(Embedded::builder().wait_for_lock(Duration::MAX).open(path.clone()));
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(!second.is_finished());
        drop(first);
        let db = ledger(second.await.unwrap().unwrap()).await;
        assert_eq!(db.whole().await, [1]);
    });
}
