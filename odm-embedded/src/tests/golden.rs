//! Golden files: stores that this version and earlier ones have written, at each moment of their lives. Every later version reads them.
//!
//! The files in `stored` whose names begin with `6-` have the present format, and those with `3-` the one before, whose indexes note no
//! types; both have a log of format 3. The others have logs of format 1. They are never written again; a new format gets further ones
//! (`write_golden_files`). They are packed: the length (4 bytes, big-endian), and then runs, each with its length (4 bytes) and its bytes, or
//! the length with the highest bit set and the one byte that is repeated.

use bson::{Document, doc};
use odm_store::{ErrorKind, Result, Store};

use super::{damage::has_begun_another, support::*};
use crate::Embedded;
use crate::disk::Disk;

macro_rules! stored {
    ($name:expr) => {
        include_bytes!(concat!("stored/", $name))
    };
}

fn unpack(mut packed: &[u8]) -> Vec<u8> {
    let number = |packed: &mut &[u8]| {
        let (number, rest) = packed.split_first_chunk()?;
        *packed = rest;
        Some(u32::from_be_bytes(*number) as usize)
    };
    let len = number(&mut packed).expect("a length");
    let mut bytes = Vec::with_capacity(len);
    while let Some(run) = number(&mut packed) {
        let count = run & 0x7fff_ffff;
        match run > count {
            true => bytes.extend(std::iter::repeat_n(
                packed.split_off_first().expect("a byte"),
                count,
            )),
            false => bytes.extend(packed.split_off(..count).expect("bytes")),
        }
    }
    assert_eq!(bytes.len(), len);
    bytes
}

fn pack(bytes: &[u8]) -> Vec<u8> {
    let number = |number: usize| (number as u32).to_be_bytes();
    let mut packed = number(bytes.len()).to_vec();
    let mut plain = Vec::new();
    for run in bytes.chunk_by(|one, next| one == next) {
        if run.len() < 16 {
            plain.extend_from_slice(run);
            continue;
        }
        if !plain.is_empty() {
            packed.extend(number(plain.len()));
            packed.append(&mut plain);
        }
        packed.extend(number(run.len() | 1 << 31));
        packed.push(run[0]);
    }
    if !plain.is_empty() {
        packed.extend(number(plain.len()));
        packed.append(&mut plain);
    }
    packed
}

/// The documents of the stores of the present format, without the ones that only their logs have.
fn present(from: i32, to: i32) -> Vec<Document> {
    let document = |id: i32| {
        let name = if id % 2 == 0 { "Bolt" } else { "Nut" };
        doc! { "_id": id, "n": id % 3, "tags": [id, "a"], "name": format!("{name} {id}"), "text": "x".repeat(40) }
    };
    (from..to).map(document).collect()
}

/// Has indexes of all kinds.
async fn ensure_present(store: &Embedded) {
    let indexes = vec![
        index("by_n", &[("n", 1), ("_id", -1)]),
        index("by_tags", &[("tags", 1)]),
        folded(unique("by_name", &[("name", 1)])),
        partial(index("ones", &[("text", 1)]), doc! { "n": 1 }),
    ];
    let made = store.ensure(&[collection("things", indexes)]).await;
    made.expect("a collection");
}

async fn insert_present(store: &Embedded, from: i32, to: i32) {
    for document in present(from, to) {
        insert(store, vec![document]).await.expect("an insert");
    }
}

/// Writes the golden files of the present format.
#[test]
#[ignore = "the files are written once for each format"]
fn write_golden_files() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/stored");
    let write = |name: &str, disk: &Disk| {
        let log = disk.log_bytes().map(|log| ("log", log));
        for (ending, bytes) in [("store", disk.bytes())].into_iter().chain(log) {
            let path = format!("{folder}/6-{name}.{ending}");
            std::fs::write(path, pack(&bytes)).expect("a file");
        }
    };
    block_on(async {
        let disk = Disk::default();
        let store = open(&disk).await.expect("a store");
        ensure_present(&store).await;
        insert_present(&store, 0, 10).await;
        store.close().await.expect("a close");
        write("closed", &disk);
        let store = open(&disk).await.expect("a store");
        insert_present(&store, 10, 15).await;
        store.check().await.expect("a checkpoint");
        insert_present(&store, 15, 20).await;
        write("crashed", &disk.after_exit());
        // The head of the next generation is synced, and the checkpoint is not.
        let syncs = disk.syncs();
        let check = std::thread::spawn({
            let store = store.clone();
            move || block_on(store.check())
        });
        while disk.syncs() == syncs {}
        let gate = disk.hold_syncs();
        disk.until_sync_waits();
        let crashed = disk.after_power_loss();
        drop(gate);
        check.join().expect("no panic").expect("a checkpoint");
        write("checkpoint", &crashed);
        let disk = Disk::default();
        let store = open(&disk).await.expect("a store");
        ensure_present(&store).await;
        insert_present(&store, 0, 5).await;
        store.check().await.expect("a checkpoint");
        insert_present(&store, 5, 10).await;
        // Values of the store and of the log, some of them changed twice.
        for (from, to) in [(2, 8), (4, 6)] {
            for id in from..to {
                let changed = Write::Update(doc! { "_id": id }, change(id, from));
                run(&store, vec![changed]).await.expect("an update");
            }
        }
        write("differences", &disk.after_exit());
    });
}

fn change(id: i32, from: i32) -> Document {
    doc! { "$set": { "name": format!("Gear {id} of {from}"), "n": from } }
}

/// The documents of which some changes are differences.
fn changed() -> Vec<Document> {
    let mut documents = present(0, 10);
    for (from, to) in [(2, 8), (4, 6)] {
        for id in from..to {
            let document = &mut documents[id as usize];
            document.insert("name", format!("Gear {id} of {from}"));
            document.insert("n", from);
        }
    }
    documents
}

/// A moment in the life of a store, with its documents.
type Moment = (&'static str, Disk, Vec<Document>);

/// Each moment in the life of the stores whose names begin so.
macro_rules! life {
    ($format:literal) => {{
        let disk = |store: &[u8], log: Option<&[u8]>| Disk::holding(unpack(store), log.map(unpack));
        macro_rules! crashed {
            ($name:literal) => {
                disk(
                    stored!(concat!($format, "-", $name, ".store")),
                    Some(stored!(concat!($format, "-", $name, ".log"))),
                )
            };
        }
        let closed = disk(stored!(concat!($format, "-closed.store")), None);
        [
            ("closed", closed, present(0, 10)),
            (
                "crashed with units in the log",
                crashed!("crashed"),
                present(0, 20),
            ),
            (
                "crashed while a checkpoint ran",
                crashed!("checkpoint"),
                present(0, 20),
            ),
            (
                "crashed with changes in the log that are differences",
                crashed!("differences"),
                changed(),
            ),
        ]
    }};
}

fn present_moments() -> [Moment; 4] {
    life!("6")
}

/// Stores whose indexes note no types of values.
fn moments_without_types() -> [Moment; 4] {
    life!("3")
}

#[test]
fn a_store_is_opened_by_every_later_version() {
    block_on(async {
        let [_, _, (_, golden, _), _] = present_moments();
        assert!(has_begun_another(&golden), "there is one generation");
        for (moment, golden, documents) in
            moments_without_types().into_iter().chain(present_moments())
        {
            let store = open(&golden.after_exit()).await;
            let store = store.unwrap_or_else(|error| panic!("{moment}: {error}"));
            assert_eq!(all(&store).await, documents, "{moment}");
            // The stored indexes are in force, and none is built.
            assert_eq!(store.indexes().expect("an open store").len(), 4);
            store.check().await.expect("a sound store");
            let name = doc! { "_id": 99, "name": "bolt 8" };
            let duplicate = insert(&store, vec![name]).await;
            let error = duplicate.expect_err("a name that is taken, in another case");
            assert_eq!(error.kind(), ErrorKind::DuplicateKey, "{moment}");
            insert_present(&store, 20, 30).await;
            store.close().await.expect("a close");
        }
    });
}

async fn open(disk: &Disk) -> Result<Embedded> {
    Embedded::builder()
        .cache_size(1 << 20)
        .backend(disk.clone())
        .await
}

/// The documents of these units in each store.
fn expected(from: &[i32]) -> Vec<Document> {
    let of = |from: i32| {
        let ids = (from..from + 5).filter(move |id| *id != from + 1);
        ids.map(move |id| {
            let text = if id == from { "older" } else { "old" };
            doc! { "_id": id, "n": id % 3, "text": text }
        })
    };
    from.iter().copied().flat_map(of).collect()
}

/// Each moment in the life of a store of the previous version, with its documents.
fn moments() -> [Moment; 5] {
    let disk = |store: &[u8], log: Option<&[u8]>| Disk::holding(unpack(store), log.map(unpack));
    [
        (
            "closed",
            disk(stored!("closed.store"), None),
            expected(&[0]),
        ),
        (
            "crashed with units in the log",
            disk(stored!("crashed.store"), Some(stored!("crashed.log"))),
            expected(&[0]),
        ),
        (
            "crashed while it applied the log",
            disk(stored!("crashed.store"), Some(stored!("recovering.log"))),
            expected(&[0]),
        ),
        (
            "crashed when it had made a log",
            disk(stored!("created.store"), Some(stored!("created.log"))),
            expected(&[0]),
        ),
        (
            "crashed when it had closed the store",
            disk(stored!("closing.store"), Some(stored!("closing.log"))),
            expected(&[0, 10]),
        ),
    ]
}

#[test]
fn a_store_of_the_version_before_is_opened_whatever_it_was_doing() {
    block_on(async {
        for (moment, old, documents) in moments() {
            let disk = old.after_exit();
            let store = open(&disk)
                .await
                .unwrap_or_else(|error| panic!("{moment}: {error}"));
            assert_eq!(all(&store).await, documents, "{moment}");
            store.check_integrity().await.expect("sound indexes");
            // The previous version can open it again: there is no log of another format yet.
            assert_eq!(disk.log_bytes(), None, "{moment}");
            for id in 50..53 {
                insert(&store, vec![doc! { "_id": id }])
                    .await
                    .expect("an insert");
            }
            // The previous version does not take this for the end of its log.
            let log = disk.log_bytes().expect("a log");
            let heads = [&log[..12], &log[4096..4108]];
            assert!(
                heads.contains(&b"odm-log\0\0\0\0\x03".as_slice()),
                "{moment}"
            );
            assert!(
                !heads.contains(&b"odm-log\0\0\0\0\x01".as_slice()),
                "{moment}"
            );
            let crashed = disk.after_power_loss();
            drop(store);
            for disk in [disk, crashed] {
                let store = open(&disk)
                    .await
                    .unwrap_or_else(|error| panic!("{moment}: {error}"));
                assert_eq!(all(&store).await.len(), documents.len() + 3, "{moment}");
                store.check().await.expect("a sound store");
                store.close().await.expect("a close");
            }
        }
    });
}

#[test]
fn a_crash_at_any_operation_while_a_log_is_applied_loses_nothing() {
    block_on(async {
        for (moment, old, documents) in moments().into_iter().chain(present_moments()) {
            for at in 0.. {
                let disk = old.after_exit();
                disk.fail_after(at);
                // The last generation is applied beside others.
                let opened = match open(&disk).await {
                    Ok(store) => store.check().await.is_ok(),
                    Err(_) => false,
                };
                for left in [
                    disk.after_exit(),
                    disk.after_power_loss(),
                    disk.after_partial_loss(at as u64 + 1),
                ] {
                    let store = open(&left)
                        .await
                        .unwrap_or_else(|error| panic!("{moment}, {at}: {error}"));
                    assert_eq!(all(&store).await, documents, "{moment}, {at}");
                }
                if opened {
                    break;
                }
            }
        }
    });
}

#[test]
fn the_torn_end_of_an_old_log_is_no_error() {
    block_on(async {
        let [_, (_, old, documents), ..] = moments();
        let log = old.log_bytes().expect("a log");
        let end = log.iter().rposition(|byte| *byte != 0).expect("a record");
        let mut torn = log.clone();
        torn[end] ^= 1;
        let store = open(&old.with_log(Some(torn))).await.expect("a store");
        let left = all(&store).await;
        // Without the last unit, which had removed and changed a document.
        assert!(left.len() == documents.len() + 1, "{left:?}");
    });
}
