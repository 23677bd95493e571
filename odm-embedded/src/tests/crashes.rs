//! Random histories on a disk that crashes at random moments, again and again: the first part of all commits is left, including all that
//! were acknowledged as durable.
//!
//! `CRASHES` is the number of crashes, `SEED` the history: `CRASHES=100000 cargo test --release -p odm-embedded --lib crashes`.

use std::{collections::BTreeMap, sync::Arc};

use bson::{Document, doc};
use futures_util::future::{join_all, join3};
use odm_store::{
    CollectionSpec, Durability, ErrorKind, IndexSpec, Result, Store, Transaction,
    TransactionOptions,
};

use super::support::*;
use crate::Embedded;
use crate::disk::Disk;

/// Random numbers.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

/// How a history differs from others.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A few units fill the log, and it is too short for some.
    ShortLog,
    /// The log has room for all units, and all go into it.
    LongLog,
    /// Most units are eventual, and many of them a load.
    Loads,
}

/// Small bounds, so that some units are large.
async fn open(disk: &Disk, kind: Kind) -> Result<Embedded> {
    let (log_size, load_size) = match kind {
        Kind::ShortLog => (24 << 10, usize::MAX),
        // A segment is longer than the record of 60 documents with long texts, which were others before, with an index of the texts.
        Kind::LongLog => (512 << 10, usize::MAX),
        Kind::Loads => (24 << 10, 1 << 10),
    };
    Embedded::builder()
        .cache_size(64 << 10)
        .log_size(log_size)
        .load_size(load_size)
        .large_units(40 << 10, 8 << 10)
        .backend(disk.clone())
        .await
}

fn indexes() -> Vec<IndexSpec> {
    vec![
        index("by_n", &[("n", -1)]),
        unique("by_u", &[("u", 1)]),
        partial(
            index("of_some", &[("n", 1)]),
            doc! { "kind": { "$gte": 1 } },
        ),
    ]
}

/// The collection with one more index, or without it.
fn other_indexes(has_more: bool) -> [CollectionSpec; 1] {
    let more = vec![
        folded(index("more", &[("u", -1), ("text", 1)])),
        partial(unique("more_of_some", &[("u", 1)]), doc! { "kind": 1 }),
    ];
    let mut things = collection("things", indexes());
    match has_more {
        true => things.indexes.extend(more),
        false => things.obsolete = more,
    }
    [things]
}

/// The documents by their `_id`.
type Model = BTreeMap<i32, Document>;

/// One unit: the documents that it stores, and the ids that it removes.
#[derive(Debug, Clone)]
struct Unit {
    stored: Vec<Document>,
    removed: Vec<i32>,
    durability: Durability,
    /// Whether it is written as a transaction of a caller.
    guarded: bool,
}

impl Unit {
    fn random(random: &mut Random, number: i32, of: Kind) -> Unit {
        let count = match random.below(20) {
            0 => 60,
            1..4 => 10,
            _ => 1 + random.below(3),
        };
        let text = ["xX", "éÉ"][random.below(2) as usize].repeat(random.below(300) as usize);
        let kind = random.below(3) as i32;
        let document = |id: i32| doc! { "_id": id, "n": number, "u": [id, id + 1000], "kind": (id + kind) % 3, "text": &text };
        let mut ids: Vec<i32> = (0..count).map(|_| random.below(80) as i32).collect();
        ids.sort_unstable();
        ids.dedup();
        let (removed, stored) = ids.into_iter().partition(|_| random.below(4) == 0);
        Unit {
            stored: Vec::<i32>::into_iter(stored).map(document).collect(),
            removed,
            durability: match (random.below(6), of) {
                (0 | 1, _) | (2..5, Kind::Loads) => Durability::Eventual,
                _ => Durability::Immediate,
            },
            guarded: random.below(4) == 0,
        }
    }

    fn apply(&self, model: &mut Model) {
        for id in &self.removed {
            model.remove(id);
        }
        for document in &self.stored {
            let id = document.get_i32("_id").expect("an id");
            model.insert(id, document.clone());
        }
    }

    fn writes(&self) -> Vec<Write> {
        let mut ids = self.removed.clone();
        let stored = self.stored.iter();
        ids.extend(stored.map(|document| document.get_i32("_id").expect("an id")));
        vec![
            Write::Delete(doc! { "_id": { "$in": ids } }),
            Write::Insert(self.stored.clone()),
        ]
    }

    /// Returns whether it is a commit: a transaction without changes is none, and succeeds on a store that refuses writes.
    async fn write(&self, store: &Embedded) -> Result<bool> {
        if !self.guarded {
            let unit = Arc::new(Writes(self.writes()));
            return store.run(unit, self.durability).await.map(|()| true);
        }
        let options = TransactionOptions::default().durability(self.durability);
        loop {
            let mut transaction: Box<dyn Transaction> = store.begin(options.clone()).await?;
            let mut has_changes = !self.stored.is_empty();
            for write in self.writes() {
                match write {
                    Write::Delete(query) => {
                        let deleted = transaction.delete(&delete(query)).await?;
                        has_changes |= deleted.removed > 0;
                    }
                    write => apply(&mut *transaction, &write).await?,
                }
            }
            match transaction.commit().await {
                // An index that is built meanwhile.
                Err(error) if error.is_retryable() => {}
                result => return result.map(|()| has_changes),
            }
        }
    }
}

/// The known states of the disk.
struct History {
    random: Random,
    /// The state of the disk after the last crash, and the states after each unit since.
    states: Vec<Model>,
    /// The last acknowledged state, and the last one that was acknowledged as durable.
    acknowledged: usize,
    durable: usize,
    unit: i32,
    kind: Kind,
}

impl History {
    /// Writes until the disk fails. Several units are in the queue at once, and between them an index is built or removed, and the store
    /// compacted.
    async fn write(&mut self, store: &Embedded) {
        loop {
            let mut units = Vec::new();
            let first = self.states.len();
            for _ in 0..1 + self.random.below(6) {
                self.unit += 1;
                let unit = Unit::random(&mut self.random, self.unit, self.kind);
                let mut next = self.states.last().expect("a state").clone();
                unit.apply(&mut next);
                self.states.push(next);
                units.push(unit);
            }
            let indexes = match self.random.below(4) {
                0 | 1 => None,
                kind => Some(other_indexes(kind == 2)),
            };
            let ensure = async {
                match &indexes {
                    None => Ok(()),
                    Some(indexes) => store.ensure(indexes).await,
                }
            };
            let compacts = self.random.below(6) == 0;
            let compact = async {
                match compacts {
                    false => Ok(()),
                    true => store.compact().await.map(drop),
                }
            };
            let writes = async {
                let mut results = Vec::new();
                // A transaction has no place in the queue before its commit.
                for together in units.chunk_by(|one, next| !one.guarded && !next.guarded) {
                    let written = together.iter().map(|unit| unit.write(store));
                    results.extend(join_all(written).await);
                }
                results
            };
            let (ensured, compacted, results) = join3(ensure, compact, writes).await;
            for (at, (unit, result)) in units.iter().zip(&results).enumerate() {
                if matches!(result, Ok(true)) {
                    self.acknowledged = first + at;
                    if unit.durability == Durability::Immediate {
                        self.durable = first + at;
                    }
                }
            }
            let mut errors = results.into_iter().filter_map(Result::err);
            let others = [ensured, compacted].into_iter().filter_map(Result::err);
            if let Some(error) = errors.by_ref().chain(others).next() {
                assert!(
                    matches!(error.kind(), ErrorKind::Io | ErrorKind::Closed),
                    "{error:?}"
                );
                return;
            }
        }
    }

    /// Finds a state from `first` on: of equal ones, the newest.
    #[track_caller]
    fn find(&self, state: &[Document], first: usize) -> usize {
        let is_it = |known: &Model| known.values().eq(state);
        match self.states[first..].iter().rposition(is_it) {
            Some(found) => first + found,
            None => panic!(
                "the state of {} documents is none from number {first} on, but number {:?} of {}; acknowledged {}, durable {}",
                state.len(),
                self.states.iter().rposition(is_it),
                self.states.len(),
                self.acknowledged,
                self.durable
            ),
        }
    }

    /// Opens the store on a disk that may fail meanwhile, finds its state, and continues from it.
    async fn open(&mut self, disk: &Disk, first: usize) -> Option<Embedded> {
        let store = match open(disk, self.kind).await {
            Ok(store) => store,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Io, "{error:?}");
                return None;
            }
        };
        store.check_integrity().await.expect("sound indexes");
        let state = all(&store).await;
        let at = self.find(&state, first);
        self.states = vec![self.states.swap_remove(at)];
        (self.acknowledged, self.durable) = (0, 0);
        Some(store)
    }
}

async fn run_history(seed: u64, crashes: usize) -> [usize; 3] {
    let mut disk = Disk::formatted().await;
    let kind = match seed % 3 {
        0 => Kind::LongLog,
        1 => Kind::Loads,
        _ => Kind::ShortLog,
    };
    {
        let store = open(&disk, kind).await.expect("a store");
        let things = collection("things", indexes());
        store.ensure(&[things]).await.expect("a collection");
        store.close().await.expect("a close");
    }
    let mut history = History {
        random: Random::new(seed),
        states: vec![Model::new()],
        acknowledged: 0,
        durable: 0,
        unit: 0,
        kind,
    };
    // How many units were written, how many were lost, and how often a recovery failed.
    let mut counts = [0; 3];
    let mut first = 0;
    for crash in 0..crashes {
        let random = &mut history.random;
        let operations = match random.below(4) {
            0 => random.below(8),
            _ => random.below(150),
        };
        disk = disk.after_exit();
        disk.fail_after(operations as usize);
        match history.open(&disk, first).await {
            // The required state is the same as before.
            None => counts[2] += 1,
            Some(store) => {
                history.write(&store).await;
                counts[0] += history.states.len() - 1;
                // All acknowledged units are visible, and no half of a unit.
                let visible = history.find(&all(&store).await, history.acknowledged);
                let again = async || {
                    let again = insert(&store, vec![doc! { "_id": -1 }]).await;
                    again.expect_err("it is broken").kind()
                };
                // A failed compaction leaves a writer that meets the broken disk with this write.
                let error = again().await;
                assert!(
                    matches!(error, ErrorKind::Closed | ErrorKind::Io),
                    "{error:?}"
                );
                assert_eq!(again().await, ErrorKind::Closed);
                drop(store);
                first = history.durable;
                if crash % 3 == 0 && kind == Kind::LongLog {
                    // A process that ends loses no visible state that is in the log.
                    first = visible;
                }
            }
        }
        disk = match crash % 3 {
            0 => disk.after_exit(),
            1 => disk.after_power_loss(),
            _ => disk.after_partial_loss(history.random.below(u64::MAX)),
        };
        let whole = disk.after_exit();
        let store = open(&whole, kind).await.unwrap_or_else(|error| {
            panic!("crash {crash}: {error:?}");
        });
        let at = history.find(&all(&store).await, first);
        counts[1] += history.states.len() - 1 - at;
    }
    counts
}

#[test]
fn after_any_crash_a_first_part_of_all_units_is_left_with_all_that_were_durable() {
    let number = |name: &str, default: u64| match std::env::var(name) {
        Ok(number) => number.parse().expect("a number"),
        Err(_) => default,
    };
    let seed: u64 = number("SEED", std::process::id().into());
    let crashes = number("CRASHES", 600);
    // A new history for each 200 crashes, whose documents are all gone sometimes.
    let mut counts = [0; 3];
    for seed in seed..seed + crashes.div_ceil(200) {
        println!("to have the same history again: SEED={seed} CRASHES=200");
        let history = block_on(run_history(seed, 200));
        for (count, of_history) in counts.iter_mut().zip(history) {
            *count += of_history;
        }
    }
    println!("units, lost units, failed recoveries: {counts:?}");
    let [units, lost, failed] = counts;
    assert!(units > 400 && lost > 20 && failed > 5, "{counts:?}");
}
