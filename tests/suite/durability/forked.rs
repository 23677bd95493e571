//! A process that was forked from the process that has opened a file: it has the memory, and one of the threads.

use std::{panic, path::PathBuf, process, process::Command, thread, time::Duration};

use fork::Fork;
use odm::{ErrorKind, store::embedded::Embedded};
use tokio::runtime::Builder;

use crate::durability::ledger::{Ledger, ledger};

/// The variable by which the forking process finds the path of the file.
const PATH: &str = "ODM_TESTS_FORKED_FILE";

/// The work of the forked process with the database that it has inherited.
fn in_the_fork(db: Ledger) {
    // No test harness ends this process.
    thread::spawn(|| {
        thread::sleep(Duration::from_secs(60));
        process::abort();
    });
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        assert_eq!(db.whole().await, [1], "it reads what there was");
        let error = db.write(2, 3).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert!(error.to_string().contains("forked"), "{error}");
        drop(db);
    });
}

/// The process that forks.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_that_forks() {
    let Some(path) = std::env::var_os(PATH).map(PathBuf::from) else {
        return;
    };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let db = runtime.block_on(async {
        let db = ledger(Embedded::open(&path).await.unwrap()).await;
        db.write(1, 3).await.unwrap();
        db
    });
    match fork::fork().unwrap() {
        Fork::Child => {
            let outcome = panic::catch_unwind(panic::AssertUnwindSafe(|| in_the_fork(db)));
            process::exit(outcome.is_err().into());
        }
        Fork::Parent(child) => {
            assert_eq!(fork::waitpid(child).unwrap(), 0, "the forked process has failed")
        }
    }
    // The forking process goes on as if there had been no other.
    runtime.block_on(async {
        db.write(3, 3).await.unwrap();
        assert_eq!(db.whole().await, [1, 3]);
        drop(db);
        let db = ledger(Embedded::open(&path).await.unwrap()).await;
        assert_eq!(db.whole().await, [1, 3]);
    });
    println!("\nboth have ended");
}

#[test]
fn a_forked_process_drops_a_database_and_the_other_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "durability::forked::child_that_forks", "--nocapture"])
        .env(PATH, directory.path().join("ledger.odm"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("both have ended"), "{output:?}");
}
