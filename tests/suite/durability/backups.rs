//! A backup has one state between its call and its end, during any writes, and if it is killed at any time.

use std::{
    io::Write,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use odm::{Database as _, Embedded, store::Durability};
use tests::killed::{Kill, kills, run_and_kill};

use crate::durability::{crash::ROUNDS, ledger::ledger};

const WRITERS: usize = 4;

/// The progress of a writer, which writes the batches `writer * 1_000_000 + 0..` one after another.
#[derive(Default)]
struct Written {
    /// The number of started batches.
    begun: AtomicI64,
    /// The number of committed batches.
    done: AtomicI64,
}

/// The number of whole batches of each writer in a copy. There must be no other batch, and no batch without all earlier ones.
async fn copied(path: &Path) -> Vec<i64> {
    let store = Embedded::builder().check(true).open(path).await.unwrap();
    store.check_integrity().await.unwrap();
    let db = ledger(store).await;
    let mut numbers = vec![0; WRITERS];
    for id in db.whole().await {
        let (writer, number) = (id as usize / 1_000_000, id % 1_000_000);
        assert_eq!(number, numbers[writer], "a batch of writer {writer} is missing");
        numbers[writer] += 1;
    }
    numbers
}

async fn copies_while_others_write(store: Embedded) {
    let folder = tempfile::tempdir().unwrap();
    let db = Arc::new(ledger(store.clone()).await);
    let written: Arc<Vec<Written>> = Arc::new((0..WRITERS).map(|_| Written::default()).collect());
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let (db, written) = (db.clone(), written.clone());
        tasks.spawn(async move {
            let db = match writer % 2 {
                0 => db.durability(Durability::Immediate),
                _ => db.durability(Durability::Eventual),
            };
            for number in 0.. {
                written[writer].begun.store(number + 1, Ordering::SeqCst);
                db.write(writer as i64 * 1_000_000 + number, 1 + number % 5).await.unwrap();
                written[writer].done.store(number + 1, Ordering::SeqCst);
            }
        });
    }
    let mut last = vec![0; WRITERS];
    for turn in 0..5 {
        while written.iter().any(|writer| writer.done.load(Ordering::SeqCst) < (turn + 1) * 3) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let path = folder.path().join(format!("{turn}.odm"));
        let before: Vec<i64> =
            written.iter().map(|writer| writer.done.load(Ordering::SeqCst)).collect();
        store.backup(&path).await.unwrap();
        let after: Vec<i64> =
            written.iter().map(|writer| writer.begun.load(Ordering::SeqCst)).collect();
        let numbers = copied(&path).await;
        for writer in 0..WRITERS {
            let (number, from, to) = (numbers[writer], before[writer], after[writer]);
            assert!((from..=to).contains(&number), "writer {writer}: {number} of {from} to {to}");
        }
        assert!(numbers > last, "{numbers:?} after {last:?}");
        last = numbers;
    }
    assert!(tasks.try_join_next().is_none(), "nobody wrote any more");
    tasks.shutdown().await;
    assert_eq!(db.audit().await.unwrap(), []);
}

#[test]
fn a_copy_of_a_file_has_one_state_between_the_call_and_its_end_while_others_write() {
    tests::on_disk(copies_while_others_write);
}

#[test]
fn a_copy_of_memory_has_one_state_between_the_call_and_its_end_while_others_write() {
    tests::in_memory(copies_while_others_write);
}

const FOLDER: &str = "ODM_TESTS_BACKUP_FOLDER";
const ROUND: &str = "ODM_TESTS_BACKUP_ROUND";

/// The child process: writes, and makes one copy after another, until it is killed.
#[test]
#[ignore = "run by another test in a process of its own"]
fn child_that_copies() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let round: i64 = std::env::var(ROUND).unwrap().parse().unwrap();
    // Ends this process even if the parent does not.
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(60));
        std::process::exit(1);
    });
    let folder = Path::new(&folder);
    tests::run(async {
        let store = Embedded::open(folder.join("ledger.odm")).await.unwrap();
        let db = Arc::new(ledger(store.clone()).await);
        let writer = db.clone();
        tokio::spawn(async move {
            for number in 0.. {
                writer.write(round * 100_000 + number, 1 + number % 5).await.unwrap();
            }
        });
        for copy in 0.. {
            let path = folder.join(format!("copy-{round}-{copy}.odm"));
            store.backup(&path).await.unwrap();
            let mut out = std::io::stdout().lock();
            writeln!(out, "+{}", path.display()).unwrap();
            out.flush().unwrap();
        }
    });
}

#[test]
fn a_copy_whose_process_is_killed_is_whole_or_not_there() {
    let mut directory = tempfile::tempdir().unwrap();
    for round in 0..kills(8) {
        if round > 0 && round % ROUNDS as u64 == 0 {
            directory = tempfile::tempdir().unwrap();
        }
        let folder = directory.path();
        let variables = [(FOLDER, folder.to_str().unwrap()), (ROUND, &round.to_string())];
        let kill = Kill::AfterLine("+", Duration::from_millis(round * 7 % 40));
        let lines = run_and_kill("durability::backups::child_that_copies", &variables, kill);
        let told: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix('+')).collect();
        assert!(told.iter().all(|path| Path::new(path).exists()), "{told:?}");
        tests::run(async {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap();
                if name.starts_with("copy-") && name.ends_with(".odm") {
                    let store = Embedded::builder().check(true).open(&path).await.unwrap();
                    store.check_integrity().await.unwrap();
                    let batches = ledger(store).await.whole().await;
                    assert!(batches.windows(2).all(|ids| ids[0] < ids[1]));
                    std::fs::remove_file(&path).unwrap();
                } else {
                    let is_unfinished = name.contains(".odm.new-");
                    assert!(is_unfinished || name.starts_with("ledger.odm"), "left: {name}");
                }
            }
            // The store itself continues from its state.
            let store = Embedded::open(folder.join("ledger.odm")).await.unwrap();
            ledger(store).await.whole().await;
        });
    }
}
