//! Writes, reads, watches, snapshots, copies and compactions of one file for a given time: the memory, the descriptors and the files of the
//! process stay as large as they are, and the stored data stays right.
//!
//! `SECONDS=600 cargo test --release --workspace --all-features --test stores -- --ignored --nocapture durability::soak`

use std::{
    env, fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use odm::{Embedded, prelude::*};

use super::ledger::{Batch, Entry, Ledger, ledger};

/// How many batches of each writer exist at a time.
const LIVE: i64 = 64;
const WRITERS: i64 = 8;

/// The resources of the process at a moment.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    resident: u64,
    descriptors: u64,
    files: u64,
}

fn held(folder: &Path) -> Held {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = pages.split(' ').nth(1).unwrap().parse().unwrap();
    let lengths = fs::read_dir(folder).unwrap();
    // A file may be renamed meanwhile.
    let lengths = lengths.filter_map(|file| file.unwrap().metadata().ok());
    Held {
        resident: pages * 4096,
        descriptors: fs::read_dir("/proc/self/fd").unwrap().count() as u64,
        files: lengths.map(|file| file.len()).sum(),
    }
}

async fn write(db: Arc<Ledger>, writer: i64, done: Arc<AtomicU64>, end: Instant) {
    for number in 0.. {
        if Instant::now() > end {
            break;
        }
        let id = |number: i64| writer * 1_000_000_000 + number;
        db.write(id(number), 1 + number % 20).await.unwrap();
        if number >= LIVE {
            db.remove(id(number - LIVE)).await.unwrap();
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
}

async fn read(db: Arc<Ledger>, end: Instant) {
    let mut changes = db.batches.watch(odm::Filter::all()).await.unwrap();
    while Instant::now() < end {
        let snapshot = db.snapshot(async |db| {
            let batches = db.batches.all().sort(Batch::fields().id.desc()).limit(50).await?;
            let shown = batches.iter().map(|batch| batch.entries as u64).sum::<u64>();
            let ids: Vec<i64> = batches.iter().map(|batch| batch.id).collect();
            let entries = db.entries.find(Entry::fields().batch.in_(ids)).count().await?;
            assert_eq!(entries, shown);
            Ok(())
        });
        snapshot.await.unwrap();
        // A late reader gets an error, and goes on with a new watch.
        let change = tokio::time::timeout(Duration::from_millis(1), changes.next());
        if let Ok(Some(Err(error))) = change.await {
            assert_eq!(error.kind(), odm::ErrorKind::Lagged, "{error}");
            changes = db.batches.watch(odm::Filter::all()).await.unwrap();
        }
    }
}

/// Copies and compacts the store in turns.
async fn operate(store: Embedded, copies: &Path, end: Instant) -> u64 {
    let mut done = 0;
    while Instant::now() < end {
        let copy = copies.join(format!("{done}.odm"));
        store.backup(&copy).await.unwrap();
        fs::remove_file(copy).unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
        store.compact().await.unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
        done += 1;
    }
    done
}

#[test]
#[ignore = "runs for SECONDS, 20 without it"]
#[cfg(target_os = "linux")]
fn a_soak_leaves_memory_descriptors_and_files_as_large_as_they_were() {
    let seconds = env::var("SECONDS").map_or(20, |text| text.parse().expect("a number"));
    let folder = tempfile::tempdir().unwrap();
    let copies = tempfile::tempdir().unwrap();
    tests::run_for(Duration::from_secs(seconds + 120), async {
        let store = Embedded::open(folder.path().join("soak.odm")).await.unwrap();
        let db = Arc::new(ledger(store.clone()).await);
        let end = Instant::now() + Duration::from_secs(seconds);
        let done = Arc::new(AtomicU64::new(0));
        let writers =
            (0..WRITERS).map(|writer| tokio::spawn(write(db.clone(), writer, done.clone(), end)));
        let readers = (0..4).map(|_| tokio::spawn(read(db.clone(), end)));
        let tasks: Vec<_> = writers.chain(readers).collect();
        let sampler = async {
            let mut samples = Vec::new();
            while Instant::now() < end {
                samples.push(held(folder.path()));
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
            samples
        };
        let (samples, operated) = tokio::join!(sampler, operate(store.clone(), copies.path(), end));
        for task in join_all(tasks).await {
            task.unwrap();
        }
        // The greatest of the second quarter, and of the last one.
        let quarter = samples.len() / 4;
        let greatest = |samples: &[Held]| {
            let greatest = |field: fn(&Held) -> u64| samples.iter().map(field).max().unwrap();
            Held {
                resident: greatest(|held| held.resident),
                descriptors: greatest(|held| held.descriptors),
                files: greatest(|held| held.files),
            }
        };
        let (early, late) =
            (greatest(&samples[quarter..2 * quarter]), greatest(&samples[3 * quarter..]));
        let done = done.load(Ordering::Relaxed);
        eprintln!(
            "{seconds} s, {done} units, {operated} copies and compactions; early {early:?}, late {late:?}"
        );
        assert!(done > 100 && operated > 2);
        assert!(late.resident < early.resident * 5 / 4 + (32 << 20));
        assert!(late.descriptors <= early.descriptors + 4);
        assert!(late.files < early.files * 5 / 4 + (16 << 20));
        db.whole().await;
        store.check_integrity().await.unwrap();
    });
}
