//! One process at a time.

use std::process::Command;

use odm::{ErrorKind, store::embedded::Embedded};

use crate::durability::ledger::ledger;

/// Where a child process finds the path of the file.
const PATH: &str = "ODM_TESTS_LOCKED_FILE";

/// The child process: tells what it gets.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_that_opens() {
    let Some(path) = std::env::var_os(PATH) else {
        return;
    };
    tests::run(async {
        let kind = Embedded::open(&path).await.map(drop).map_err(|error| error.kind());
        println!("\nopened: {kind:?}");
    });
}

fn open_in_a_child(path: &std::path::Path) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "durability::lock::child_that_opens", "--nocapture"])
        .env(PATH, path)
        .output()
        .unwrap();
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
