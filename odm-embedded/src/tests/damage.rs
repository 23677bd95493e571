//! Damage of the log: synced records that cannot be read are detected, and told from records that a crash has torn.

use std::{ops::Range, sync::Arc, time::Duration};

use bson::{Document, doc};
use odm_store::{Durability, Error, ErrorKind, Result, Store};

use super::support::*;
use crate::disk::Disk;
use crate::{
    Builder, Embedded,
    engine::Engine,
    layout::META,
    log::{Log, RECORD},
};

const LOG_SIZE: u64 = 56 << 10;

/// The positions of the marks and of the segments.
const MARK: usize = 8192;
const SEGMENTS: usize = 16_384;

/// The length of a segment.
const SEGMENT: usize = (LOG_SIZE as usize - SEGMENTS) / 2;

/// The length of the head of a record.
const HEAD: usize = 44;

fn builder() -> Builder {
    Embedded::builder()
        .log_size(LOG_SIZE)
        .flush_interval(Duration::from_secs(3600))
}

async fn open(disk: &Disk) -> Result<Embedded> {
    builder().backend(disk.clone()).await
}

fn thing(id: i32) -> Document {
    doc! { "_id": id, "text": format!("{id} {}", "x".repeat(id as usize % 7 * 20)) }
}

fn things(count: i32) -> Vec<Document> {
    (0..count).map(thing).collect()
}

async fn eventually(store: &Embedded, document: Document) {
    let unit = Arc::new(Writes(vec![Write::Insert(vec![document])]));
    let done = store.run(unit, Durability::Eventual).await;
    done.expect("an insert");
}

/// Whether the log has the head of a generation that the store's file does not name yet.
pub(super) fn has_begun_another(disk: &Disk) -> bool {
    let disk = disk.after_exit();
    let generation: Document = bson::deserialize_from_slice(&named(&disk)).expect("a generation");
    let next = generation.get_i64("generation").expect("a number") + 1;
    let log = disk.log_bytes().expect("a log");
    log[next as usize % 2 * 4096 + 24..].starts_with(&next.to_be_bytes())
}

/// A store after a crash, whose log has a record for each of its last units.
struct Crashed {
    disk: Disk,
    /// The record in the store's file that names the log.
    named: Vec<u8>,
    log: Vec<u8>,
    /// The number of all documents: each is a unit.
    documents: i32,
    /// The places of the records.
    records: Vec<Range<usize>>,
}

impl Crashed {
    /// With `count` documents. The last `unsynced` are not synced.
    async fn new(count: i32, unsynced: i32) -> Crashed {
        let disk = Disk::formatted().await;
        let store = open(&disk).await.expect("a store");
        for id in 0..count {
            match id < count - unsynced {
                true => insert(&store, vec![thing(id)]).await.expect("an insert"),
                false => eventually(&store, thing(id)).await,
            }
        }
        // A checkpoint that a full log has begun may still run: there are two generations until it ends.
        while has_begun_another(&disk) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Crashed::of(disk.after_exit(), count)
    }

    fn of(disk: Disk, documents: i32) -> Crashed {
        let log = disk.log_bytes().expect("a log");
        let named = named(&disk);
        let found = judge(&named, &log).expect("a log");
        assert_eq!(found.left_out, None);
        let mut records = Vec::new();
        let generation: Document = bson::deserialize_from_slice(&named).expect("a generation");
        let number = generation.get_i64("generation").expect("a number");
        let mut at = SEGMENTS + number as usize % 2 * SEGMENT;
        for _ in 0..found.units {
            let len = log[at + 12..at + 16].try_into().expect("four bytes");
            let end = at + HEAD + u32::from_be_bytes(len) as usize;
            records.push(at..end);
            at = end;
        }
        Crashed {
            disk,
            named,
            log,
            documents,
            records,
        }
    }

    fn start(&self) -> usize {
        self.records.first().expect("a record").start
    }

    fn end(&self) -> usize {
        self.records.last().expect("a record").end
    }

    /// The number of documents before a record.
    fn before(&self, record: usize) -> i32 {
        self.documents - (self.records.len() - record) as i32
    }

    /// The log, with its mark from before the first sync.
    fn without_mark(&self) -> Vec<u8> {
        let mut log = self.log.clone();
        log[MARK..SEGMENTS].fill(0);
        log
    }
}

/// The result of reading a log.
#[derive(Debug)]
struct Judged {
    units: u64,
    left_out: Option<u64>,
    damage: Option<Error>,
}

/// The record in the store's file that names the log.
fn named(disk: &Disk) -> Vec<u8> {
    let named = Engine::look(disk.file(), &"test".into(), |state| {
        Ok(state.get(META, RECORD)?.map(|named| named.to_vec()))
    });
    named.expect("a store").expect("it has a log")
}

/// Judges a log as `open` does.
fn judge(named: &[u8], log: &[u8]) -> Result<Judged> {
    let disk = Disk::holding(Vec::new(), Some(log.to_vec()));
    let log = Log::open(Box::new(disk.clone()), LOG_SIZE, "test", Some(named));
    assert_eq!(disk.operations(), 0, "something was changed");
    let (_, recovery) = log?;
    let (damage, left_out) = recovery.lost.unzip();
    Ok(Judged {
        units: recovery.units,
        left_out,
        damage,
    })
}

/// Changes of a log at a record, each with its description.
fn damages(crashed: &Crashed, record: usize) -> Vec<(String, Vec<u8>)> {
    let Range { start, end } = crashed.records[record];
    let log = &crashed.log;
    let mut damages = Vec::new();
    let mut damage = |what: String, change: &dyn Fn(&mut Vec<u8>)| {
        let mut damaged = log.clone();
        change(&mut damaged);
        if damaged != *log {
            damages.push((format!("record {record}: {what}"), damaged));
        }
    };
    // Each third bit at the edges and in the middle; elsewhere a few, others in each record.
    let all = crashed.records.len();
    let step = match [0, 1, all / 2, all - 2, all - 1].contains(&record) {
        true => 3,
        false => 40,
    };
    for at in (start + record % step..end).step_by(step) {
        damage(format!("bit {at}"), &|log| log[at] ^= 1 << (at % 8));
    }
    for len in [1, 16, 512, 4096] {
        let within = start + len / 3 % (end - start);
        damage(format!("{len} zeros"), &|log| {
            let end = (within + len).min(log.len());
            log[within..end].fill(0);
        });
        damage(format!("{len} bytes inserted"), &|log| {
            let bytes: Vec<u8> = (0..len as u32).map(|n| n as u8 ^ 0x5a).collect();
            log.splice(within..within, bytes);
        });
        damage(format!("{len} bytes removed"), &|log| {
            let end = (within + len).min(log.len());
            log.drain(within..end);
        });
        damage(format!("{len} bytes of the place before"), &|log| {
            let end = (within + len).min(log.len());
            let first = crashed.start() - len;
            log.copy_within(first..first + (end - within), within);
        });
    }
    damage("cut at its start".into(), &|log| log.truncate(start));
    damage("cut within it".into(), &|log| log.truncate(start + 7));
    damage("removed".into(), &|log| drop(log.drain(start..end)));
    damage("the first in its place".into(), &|log| {
        let first = log[crashed.records[0].clone()].to_vec();
        let len = first.len().min(end - start);
        log[start..start + len].copy_from_slice(&first[..len]);
    });
    damage("the ones before repeated".into(), &|log| {
        let before = log[crashed.start()..start].to_vec();
        log.splice(start..start, before);
    });
    // With a record far behind it, and with the bytes behind all of them.
    let behind = crashed.records.get(record + 2..).unwrap_or_default();
    let behind = behind.get(behind.len() / 2).map(|range| range.start);
    for far in behind.into_iter().chain([crashed.end() + 1_000]) {
        for len in [16, end - start] {
            damage(
                format!("{len} bytes exchanged with those at {far}"),
                &|log| {
                    let at = far.min(log.len());
                    let (before, behind) = log.split_at_mut(at);
                    let len = len.min(behind.len());
                    before[start..start + len].swap_with_slice(&mut behind[..len]);
                },
            );
        }
    }
    if let Some(next) = crashed.records.get(record + 1) {
        damage("changed with the next".into(), &|log| {
            log[start..next.end].rotate_left(end - start);
        });
    }
    damages
}

#[test]
fn any_damage_of_a_synced_record_is_found_with_its_place_and_what_lies_behind() {
    block_on(async {
        // The second log has the records of several earlier generations behind it.
        for count in [9, 180] {
            let crashed = Crashed::new(count, 0).await;
            let all = crashed.records.len();
            assert!(all >= 8, "{all} records");
            for record in 0..all {
                for (what, log) in damages(&crashed, record) {
                    let found = judge(&crashed.named, &log).expect("its log");
                    let damage = found.damage.unwrap_or_else(|| panic!("{what}: not found"));
                    assert_eq!(damage.kind(), ErrorKind::Corrupt, "{what}");
                    let place = format!(
                        "`test.log`, the log of `test`, is damaged at byte {}",
                        crashed.records[record].start
                    );
                    assert!(damage.to_string().contains(&place), "{what}: {damage}");
                    assert_eq!(found.units, record as u64, "{what}");
                    assert_eq!(found.left_out, Some((all - record) as u64), "{what}");
                }
            }
        }
    });
}

#[test]
fn a_later_record_proves_damage_without_the_mark() {
    block_on(async {
        let crashed = Crashed::new(40, 0).await;
        let all = crashed.records.len();
        for record in 0..all {
            for (what, mut log) in damages(&crashed, record) {
                if log.len() < crashed.end() {
                    continue;
                }
                log[MARK..SEGMENTS].fill(0);
                let found = judge(&crashed.named, &log).expect("its log");
                assert_eq!(found.units, record as u64, "{what}");
                // Each was written after the sync of the one before it. A record with 4096 bytes less or no more records behind it cannot
                // be told from a torn end.
                if what.contains("bit") && record + 1 < all {
                    assert_eq!(found.left_out, Some((all - record) as u64), "{what}");
                }
                if record + 1 == all {
                    assert_eq!(found.left_out, None, "{what}");
                }
            }
        }
    });
}

#[test]
fn a_mark_that_cannot_be_read_loses_nothing() {
    block_on(async {
        let crashed = Crashed::new(9, 0).await;
        for at in MARK..MARK + 40 {
            for bit in 0..8 {
                let mut log = crashed.log.clone();
                log[at] ^= 1 << bit;
                let found = judge(&crashed.named, &log).expect("its log");
                assert_eq!(
                    (found.units, found.left_out),
                    (8, None),
                    "bit {bit} of {at}"
                );
            }
        }
        let found = judge(&crashed.named, &crashed.without_mark()).expect("its log");
        assert_eq!((found.units, found.left_out), (8, None));
        // An older one.
        let older = Crashed::new(9, 4).await;
        let found = judge(&older.named, &older.log).expect("its log");
        assert_eq!((found.units, found.left_out), (8, None));
    });
}

#[test]
fn what_was_not_synced_is_a_torn_end_whatever_of_it_is_there() {
    block_on(async {
        let crashed = Crashed::new(30, 10).await;
        let all = crashed.records.len();
        for record in all - 10..all {
            // A crash can leave later records whole, and a hole before them.
            for (what, log) in damages(&crashed, record) {
                let found = judge(&crashed.named, &log).expect("its log");
                assert_eq!(found.left_out, None, "{what}");
                assert_eq!(found.units, record as u64, "{what}");
            }
        }
        // An earlier record is damaged nevertheless, as the mark and the later ones say.
        for mark in [true, false] {
            let mut log = match mark {
                true => crashed.log.clone(),
                false => crashed.without_mark(),
            };
            log[crashed.records[all - 11].start] ^= 1;
            let found = judge(&crashed.named, &log).expect("its log");
            assert_eq!(found.units as usize, all - 11);
            assert_eq!(found.left_out, Some(11), "with a mark: {mark}");
        }
    });
}

#[test]
fn a_log_that_is_damaged_is_refused_and_neither_file_is_changed_until_it_is_salvaged() {
    block_on(async {
        let crashed = Crashed::new(24, 0).await;
        for (record, at) in crashed.records.iter().enumerate() {
            let disk = crashed.disk.after_exit();
            disk.flip_log(at.start + record % 30);
            let (store, log) = (disk.bytes(), disk.log_bytes());
            for check in [false, true] {
                let opened = builder().check(check).backend(disk.clone()).await;
                let error = opened.expect_err("it is damaged");
                assert_eq!(error.kind(), ErrorKind::Corrupt);
                let message = error.to_string();
                for says in ["`test.log`", "`test`", "salvage", &at.start.to_string()] {
                    assert!(message.contains(says), "{message}");
                }
            }
            assert_eq!(disk.operations(), 0);
            assert!(disk.bytes() == store && disk.log_bytes() == log);

            let salvaged = builder().salvage_backend(disk.clone()).await;
            let salvaged = salvaged.expect("what lies before");
            let damage = salvaged.damage.expect("it is damaged").to_string();
            assert!(damage.contains(&format!("byte {}", at.start)), "{damage}");
            assert_eq!(salvaged.applied, record as u64);
            assert_eq!(salvaged.left_out, (crashed.records.len() - record) as u64);
            assert!(salvaged.log.is_some());
            assert_eq!(disk.kept(), log);
            let left = crashed.before(record);
            assert_eq!(all(&salvaged.store).await, things(left));
            // It is a store like any other.
            insert(&salvaged.store, vec![thing(left)])
                .await
                .expect("an insert");
            drop(salvaged.store);
            let store = open(&disk.after_power_loss()).await.expect("a store");
            assert_eq!(all(&store).await, things(left + 1));
        }
    });
}

#[test]
fn a_head_that_is_damaged_and_a_log_that_is_missing_or_short_are_refused_and_salvaged() {
    block_on(async {
        let crashed = Crashed::new(9, 0).await;
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut log = crashed.log.clone();
            change(&mut log);
            Some(log)
        };
        let all_logs = [
            None,
            with(&|log| log[30] ^= 1),
            with(&|log| log[4096 + 36] ^= 1),
            with(&|log| log[..SEGMENTS].fill(0)),
            with(&|log| log.truncate(4000)),
            with(&|log| log.truncate(MARK)),
            with(&|log| log.truncate(MARK + 100)),
            with(&|log| log.truncate(SEGMENTS)),
            Some(Crashed::new(9, 0).await.log),
        ];
        let mut refused = 0;
        for (number, log) in all_logs.into_iter().enumerate() {
            let disk = crashed.disk.with_log(log.clone());
            match open(&disk).await {
                // The head of the previous generation.
                Ok(store) => assert_eq!(all(&store).await, things(9), "log {number}"),
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "log {number}");
                    assert_eq!(disk.operations(), 0, "log {number}");
                    let salvaged = builder().salvage_backend(disk.clone()).await;
                    let salvaged = salvaged.expect("the store's own file");
                    assert_eq!(all(&salvaged.store).await, things(1), "log {number}");
                    assert_eq!(
                        salvaged.damage.expect("damage").to_string(),
                        error.to_string()
                    );
                    assert_eq!(disk.kept(), log, "log {number}");
                    salvaged.store.close().await.expect("a close");
                    let store = open(&disk.after_power_loss()).await.expect("a store");
                    assert_eq!(all(&store).await, things(1));
                }
            }
        }
        assert_eq!(refused, 8);
        // An undamaged log loses nothing.
        let salvaged = builder().salvage_backend(crashed.disk.after_exit()).await;
        let salvaged = salvaged.expect("a store");
        assert!(salvaged.damage.is_none() && salvaged.log.is_none());
        assert_eq!((salvaged.applied, salvaged.left_out), (8, 0));
        assert_eq!(all(&salvaged.store).await, things(9));
    });
}

#[test]
fn a_crash_at_any_operation_of_a_recovery_or_a_salvage_loses_nothing_more() {
    block_on(async {
        let crashed = Crashed::new(20, 3).await;
        let damaged = crashed.disk.after_exit();
        damaged.flip_log(crashed.records[10].start);
        let left = crashed.before(10);
        for (start, expected) in [(&crashed.disk, 20), (&damaged, left)] {
            let mut ends = 0;
            for at in 0.. {
                let disk = start.after_exit();
                disk.fail_after(at);
                let salvaged = builder().salvage_backend(disk.clone()).await;
                let is_done = salvaged.is_ok();
                if let Ok(salvaged) = salvaged {
                    assert_eq!(all(&salvaged.store).await, things(expected));
                }
                for (kind, disk) in [
                    disk.after_exit(),
                    disk.after_power_loss(),
                    disk.after_partial_loss(at as u64 + 1),
                ]
                .into_iter()
                .enumerate()
                {
                    let again = builder().salvage_backend(disk.clone()).await;
                    let again = again.unwrap_or_else(|error| panic!("{at}, {kind}: {error:?}"));
                    assert_eq!(all(&again.store).await, things(expected), "{at}, {kind}");
                    ends += usize::from(again.damage.is_some());
                }
                if is_done && at > 3 {
                    break;
                }
            }
            assert_eq!(ends > 0, expected == left);
        }
    });
}

#[test]
fn documents_with_the_bytes_of_logs_are_no_records() {
    block_on(async {
        // Two stores from one file: their logs have one id, and the same generations.
        let first = Crashed::new(12, 0).await;
        let [mine, other] = [first.disk.after_exit(), first.disk.after_exit()];
        let fill = async |disk: &Disk| {
            let store = open(disk).await.expect("a store");
            for id in 100..110 {
                insert(&store, vec![thing(id)]).await.expect("an insert");
            }
            store
        };
        let store = fill(&other).await;
        let foreign = other.log_bytes().expect("a log");
        drop(store);
        let store = fill(&mine).await;
        let records = foreign[SEGMENTS..SEGMENTS + 2000].to_vec();
        assert_eq!(
            foreign[SEGMENTS + 16..SEGMENTS + 24],
            mine.log_bytes().expect("a log")[SEGMENTS + 16..SEGMENTS + 24]
        );
        let bytes = |bytes: Vec<u8>| bson::Binary {
            subtype: bson::spec::BinarySubtype::Generic,
            bytes,
        };
        let before = judge(&named(&mine), &mine.log_bytes().expect("a log")).expect("its log");
        eventually(&store, doc! { "_id": "foreign", "log": bytes(records) }).await;
        let own = mine.log_bytes().expect("a log")[SEGMENTS..SEGMENTS + 2000].to_vec();
        eventually(&store, doc! { "_id": "own", "log": bytes(own) }).await;
        let log = mine.log_bytes().expect("a log");
        let crashed = Crashed::of(mine.after_exit(), 0);
        for record in &crashed.records[before.units as usize..] {
            let mut torn = log.clone();
            torn[record.start + 2] ^= 1;
            let found = judge(&crashed.named, &torn).expect("its log");
            assert_eq!(found.left_out, None, "of the record at {}", record.start);
        }
    });
}

#[test]
fn a_check_of_an_open_store_finds_damage_of_the_log_and_saves_what_it_had() {
    block_on(async {
        for place in [40, 4096 + 40, SEGMENTS + 5, SEGMENTS + 60] {
            let disk = Disk::formatted().await;
            let store = open(&disk).await.expect("a store");
            for id in 0..5 {
                insert(&store, vec![thing(id)]).await.expect("an insert");
            }
            disk.flip_log(place);
            let checked = store.check().await;
            if place == 4096 + 40 {
                // There is no head yet.
                checked.expect("a sound store");
            } else {
                let error = checked.expect_err("it is damaged");
                assert_eq!(error.kind(), ErrorKind::Corrupt);
                assert!(
                    error.to_string().contains("`test.log` is damaged"),
                    "{error}"
                );
            }
            store.check().await.expect("a sound store again");
            insert(&store, vec![thing(5)]).await.expect("an insert");
            store.check().await.expect("a sound store");
            drop(store);
            let store = open(&disk.after_power_loss()).await.expect("a store");
            assert_eq!(all(&store).await, things(6));
        }
    });
}

#[test]
fn a_log_of_a_later_format_is_refused_and_left_alone() {
    block_on(async {
        let crashed = Crashed::new(5, 0).await;
        for page in [0, 4096] {
            let mut log = crashed.log.clone();
            let magic = log[..8].to_vec();
            log[page..page + 8].copy_from_slice(&magic);
            log[page + 8..page + 12].copy_from_slice(&4_u32.to_be_bytes());
            for disk in [
                crashed.disk.with_log(Some(log.clone())),
                Disk::formatted().await.with_log(Some(log)),
            ] {
                for error in [
                    open(&disk).await.expect_err("too new"),
                    builder()
                        .salvage_backend(disk.clone())
                        .await
                        .expect_err("too new"),
                ] {
                    assert_eq!(error.kind(), ErrorKind::Corrupt);
                    assert!(
                        error.to_string().contains("format 4 of `test.log`"),
                        "{error}"
                    );
                }
                assert_eq!(disk.operations(), 0);
            }
        }
    });
}
