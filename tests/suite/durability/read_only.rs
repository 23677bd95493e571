//! Processes that read a file while another one writes it.

use std::{fs, path::Path, thread, time::Duration};

use odm::store::contract::Store as _;
use odm::{ErrorKind, ReadOnlyStore, prelude::*, store::embedded::Embedded};
use serde::{Deserialize, Serialize};
use tests::killed::{Kill, run_and_kill};

use crate::durability::ledger::{Entry, Ledger, ledger};

/// The variable by which the child process finds the path of the file.
const PATH: &str = "ODM_TESTS_FOLLOWED_FILE";

/// The child process: writes until it is killed, with many checkpoints, and compactions.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_that_writes() {
    let Some(path) = std::env::var_os(PATH) else {
        return;
    };
    // Ends this process even if the parent does not.
    thread::spawn(|| {
        thread::sleep(Duration::from_secs(120));
        std::process::exit(1);
    });
    tests::run(async {
        let store = Embedded::builder().checkpoint_interval(Duration::from_millis(20));
        let store = store.open(&path).await.unwrap();
        let db = ledger(store.clone()).await;
        // The declaration is in the file from here on.
        store.check().await.unwrap();
        println!("\nopen");
        for id in 0.. {
            db.write(id, 1 + id % 5).await.unwrap();
            if id % 3 == 2 {
                db.remove(id - 1).await.unwrap();
            }
            if id % 100 == 99 {
                store.compact().await.unwrap();
            }
        }
    });
}

/// Opens the file as soon as a writer has made it.
async fn opened(path: &Path) -> ReadOnlyStore {
    for _ in 0..1_000 {
        match Embedded::open_read_only(path).await {
            Ok(store) => return store,
            Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::ReadOnly) => {
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the file cannot be opened")
}

/// The batches of one state, all of which are whole.
async fn whole(db: &Ledger) -> Vec<i64> {
    db.snapshot(async |db| Ok(db.whole().await)).await.unwrap()
}

/// Waits until a read-only store has a state with these batches.
async fn until(db: &Ledger, batches: &[i64]) {
    for _ in 0..1_000 {
        if whole(db).await == batches {
            return;
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    panic!("the state never comes: {:?}, and not {batches:?}", whole(db).await)
}

#[test]
fn a_process_reads_whole_states_in_their_order_beside_a_writer_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.odm");
    let written = path.clone();
    let writer = thread::spawn(move || {
        let path = written.to_str().unwrap();
        let kill = Kill::AfterLine("open", Duration::from_secs(3));
        run_and_kill("durability::read_only::child_that_writes", &[(PATH, path)], kill)
    });
    tests::run(async {
        let store = opened(&path).await;
        while store.last_checkpoint().unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let db = loop {
            match Ledger::open(store.clone()).await {
                Ok(db) => break db,
                // The writer has not declared it yet.
                Err(error) => assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        let (mut states, mut last, mut time) = (0, -1, store.last_checkpoint().unwrap());
        while !writer.is_finished() {
            let newest = whole(&db).await.last().copied().unwrap_or(-1);
            // The last batch of a unit may be removed by the next one.
            assert!(newest >= last - 1, "{newest} after {last}");
            states += usize::from(newest > last);
            last = last.max(newest);
            let now = store.last_checkpoint().unwrap();
            assert!(now >= time);
            time = now;
        }
        println!("{states} states, {last} batches");
        assert!(states > 2, "the reader follows the writer");
        writer.join().unwrap();

        // The killed process has left the store as of the last checkpoint, and its last commits in the log.
        let left = whole(&db).await;
        store.check_integrity().await.unwrap();
        let error = Embedded::open_read_only(&path).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnly);
        assert!(error.to_string().contains("`Embedded::open` once"), "{error}");

        // The next writer opens the file beside the reader, which follows it.
        let next = ledger(Embedded::open(&path).await.unwrap()).await;
        let recovered = next.whole().await;
        assert!(recovered.last() >= left.last());
        next.write(1_000_000, 2).await.unwrap();
        next.close().await.unwrap();
        until(&db, &[recovered, vec![1_000_000]].concat()).await;
    });
}

#[test]
fn a_reader_sees_a_commit_after_the_interval_of_checkpoints_or_the_close() {
    let folder = tempfile::tempdir().unwrap();
    for (interval, name) in [(Duration::from_millis(20), "soon.odm"), (Duration::MAX, "late.odm")] {
        let path = folder.path().join(name);
        tests::run(async {
            ledger(Embedded::open(&path).await.unwrap()).await.close().await.unwrap();
            let writer = Embedded::builder().checkpoint_interval(interval);
            let writer = ledger(writer.open(&path).await.unwrap()).await;
            // The first unit of a store has no log yet.
            writer.write(0, 1).await.unwrap();
            let reader = Embedded::open_read_only(&path).await.unwrap();
            let reader = Ledger::open(reader).await.unwrap();
            writer.write(1, 3).await.unwrap();
            if interval == Duration::MAX {
                tokio::time::sleep(Duration::from_millis(500)).await;
                assert_eq!(reader.whole().await, [0]);
                writer.close().await.unwrap();
            }
            until(&reader, &[0, 1]).await;
        });
    }
}

#[test]
fn a_reader_follows_the_file_that_takes_the_place_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.odm");
    tests::run(async {
        let store = Embedded::open(&path).await.unwrap();
        let writer = ledger(store.clone()).await;
        writer.write(1, 3).await.unwrap();
        store.compact().await.unwrap();
        let reader = Ledger::open(Embedded::open_read_only(&path).await.unwrap()).await.unwrap();
        reader
            .snapshot(async |before| {
                writer.write(2, 3).await?;
                store.compact().await?;
                until(&reader, &[1, 2]).await;
                assert_eq!(before.whole().await, [1], "it goes on with the old file");
                Ok(())
            })
            .await
            .unwrap();
        // A backup of another time is put back.
        let backup = folder.path().join("backup.odm");
        store.backup(&backup).await.unwrap();
        writer.write(3, 1).await.unwrap();
        writer.close().await.unwrap();
        until(&reader, &[1, 2, 3]).await;
        fs::rename(&backup, &path).unwrap();
        until(&reader, &[1, 2]).await;
        fs::remove_file(&path).unwrap();
        let error = loop {
            match reader.batches.all().count().await {
                Ok(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains("ledger.odm"), "{error}");
    });
}

#[test]
fn a_reader_that_is_idle_does_not_make_the_file_grow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.odm");
    tests::run(async {
        let store = Embedded::open(&path).await.unwrap();
        let writer = ledger(store.clone()).await;
        for id in 0..200 {
            writer.write(id, 5).await.unwrap();
        }
        let _reader = {
            store.check().await.unwrap();
            Embedded::open_read_only(&path).await.unwrap()
        };
        let mut sizes = Vec::new();
        for _ in 0..3 {
            for round in 0..20 {
                let some = writer.entries.update_where(Entry::fields().place.eq(round % 5));
                some.set(Entry::fields().text, format!("of round {round}")).await.unwrap();
                store.check().await.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
            sizes.push(store.size().unwrap().file.unwrap());
        }
        assert!(sizes[2] <= sizes[0] * 3 / 2, "{sizes:?}");
    });
}

#[test]
fn a_write_to_a_read_only_store_is_refused_and_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.odm");
    tests::run(async {
        let writer = ledger(Embedded::open(&path).await.unwrap()).await;
        writer.write(1, 3).await.unwrap();
        writer.close().await.unwrap();
        let store = Embedded::open_read_only(&path).await.unwrap();
        let db = Ledger::open(store.clone()).await.unwrap();
        let errors = [db.write(2, 1).await.unwrap_err(), db.batches.delete(1).await.unwrap_err()];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
            assert!(error.to_string().contains("ledger.odm"), "{error}");
        }
        assert_eq!(db.whole().await, [1]);
        // Several processes can read one file, also if nobody writes it.
        let other = Ledger::open(Embedded::open_read_only(&path).await.unwrap()).await.unwrap();
        assert_eq!(other.whole().await, [1]);
        store.close().await.unwrap();
        store.close().await.unwrap();
        assert_eq!(db.batches.all().count().await.unwrap_err().kind(), ErrorKind::Closed);
        assert_eq!(store.size().unwrap_err().kind(), ErrorKind::Closed);
        assert_eq!(other.whole().await, [1]);
    });
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[document(collection = "batches")]
struct OtherBatch {
    #[serde(rename = "_id")]
    id: i64,
    #[index]
    size: i64,
}

#[derive(Database)]
#[database(name = "ledger", version = 2)]
struct OtherLedger {
    batches: Repository<OtherBatch>,
}

#[test]
fn a_database_that_the_file_does_not_have_is_refused_on_a_read_only_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.odm");
    tests::run(async {
        Embedded::open(&path).await.unwrap().close().await.unwrap();
        let store = Embedded::open_read_only(&path).await.unwrap();
        let error = Ledger::open(store).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnly);
        assert!(error.to_string().contains("does not have it"), "{error}");

        ledger(Embedded::open(&path).await.unwrap()).await.close().await.unwrap();
        let store = Embedded::open_read_only(&path).await.unwrap();
        let error = OtherLedger::open(store.clone()).await.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnly);
        assert!(error.to_string().contains("other models"), "{error}");
        Ledger::open(store).await.unwrap();
    });
}

#[test]
fn a_file_that_is_missing_or_no_store_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.odm");
    tests::run(async {
        let error = Embedded::open_read_only(&path).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(!path.exists());
        let error = Embedded::open_read_only(folder.path()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        for content in [&b""[..], b"no store at all", &[7; 100_000]] {
            fs::write(&path, content).unwrap();
            let error = Embedded::open_read_only(&path).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            assert!(error.to_string().contains("ledger.odm"), "{error}");
            assert_eq!(fs::read(&path).unwrap(), content);
        }
    });
}
