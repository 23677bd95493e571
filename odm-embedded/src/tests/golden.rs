//! Stores of the previous version, whose logs have format 1.
//!
//! The previous version has written the files in `stored`. They are packed: the length (4 bytes, big-endian), and then runs, each with its
//! length (4 bytes) and its bytes, or the length with the highest bit set and the one byte that is repeated.

use bson::{Document, doc};
use odm_store::{Result, Store};

use super::support::*;
use crate::Embedded;
use crate::disk::Disk;

macro_rules! stored {
    ($name:literal) => {
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
fn moments() -> [(&'static str, Disk, Vec<Document>); 5] {
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
fn a_crash_at_any_operation_while_an_old_log_is_applied_loses_nothing() {
    block_on(async {
        for (moment, old, documents) in moments() {
            for at in 0.. {
                let disk = old.after_exit();
                disk.fail_after(at);
                let opened = open(&disk).await.is_ok();
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
