//! Locks as documents of the collection `_odm_locks`, which transactions change.
//!
//! The server ends all but one of the transactions that change one document. A locked document has a window of [`STRIPES`] documents of the
//! collection: a transaction that locks it exclusively changes all of them, and a transaction that shares it changes one, so that sharing
//! transactions rarely conflict. If two windows overlap, or two transactions share by the same document of the collection, the only cost is
//! a repetition.
//!
//! Each document also has the epoch of the store, so that the first write of a transaction tells it whether another epoch has begun.

use std::{
    collections::{BTreeSet, hash_map::RandomState},
    hash::{BuildHasher, Hasher},
    sync::atomic::{AtomicU32, Ordering},
};

use ::mongodb::{
    Database,
    bson::doc,
    error::ErrorKind,
    options::{CollectionOptions, ReadConcern, ReadPreference, SelectionCriteria, WriteConcern},
};
use bson::{Document, RawArrayBuf, RawDocumentBuf, raw::cstr, rawdoc};
use odm_store::{Error, ErrorKind as Kind, Lock, OtherEpoch, Result};

use super::error::{About, code::DUPLICATE_KEY, driver};

/// The collection.
pub(super) const COLLECTION: &str = "_odm_locks";
/// How many documents it has: their `_id`s are the numbers below. All processes that use a database must agree on it.
const SLOTS: u32 = 1024;
/// How many of them lock one document.
const STRIPES: u32 = 16;

/// The slot of a window that a transaction changes to share it: another one each time, so that the transactions of a process do not
/// conflict unless more than [`STRIPES`] of them run at once.
#[derive(Debug)]
pub(super) struct Turn(AtomicU32);

impl Turn {
    pub(super) fn new() -> Self {
        // Processes begin at different slots.
        Turn(AtomicU32::new(
            RandomState::new().build_hasher().finish() as u32
        ))
    }

    /// Any slot.
    pub(super) fn slot(&self) -> i32 {
        (self.next() % SLOTS) as i32
    }

    fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// The slots of a transaction.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// The slots that it has changed.
    held: BTreeSet<u32>,
    /// The slots that it changes with its next request.
    wanted: BTreeSet<u32>,
    /// The slots of exclusive locks.
    exclusive: BTreeSet<u32>,
    /// The slots of the locks with which the unit begins if it is run again, in addition to the exclusive ones.
    if_run_again: BTreeSet<u32>,
    /// The epoch that the transaction writes in.
    epoch: Option<i64>,
    /// The epoch that begins with the next request.
    next_epoch: Option<i64>,
}

impl Slots {
    /// Begins with slots that the unit needed when it ran before.
    pub(super) fn again(exclusive: BTreeSet<u32>) -> Self {
        Slots {
            wanted: exclusive.clone(),
            exclusive,
            ..Slots::default()
        }
    }

    /// The slots with which the unit begins when it is run again.
    pub(super) fn into_wanted_again(mut self) -> BTreeSet<u32> {
        self.exclusive.append(&mut self.if_run_again);
        self.exclusive
    }

    /// Adds the slots of locks.
    pub(super) fn add(&mut self, locks: Vec<Lock>, turn: &Turn) -> Result<()> {
        let mut is_unseen = false;
        for lock in locks {
            match lock {
                Lock::Shared { collection, key } => {
                    let mut window = window(&collection, &key);
                    let slot = window.nth((turn.next() % STRIPES) as usize);
                    self.wanted.extend(slot);
                }
                Lock::Exclusive { collection, key } => {
                    self.exclusive.extend(window(&collection, &key));
                }
                Lock::IfRunAgain { collection, key } => {
                    self.if_run_again.extend(window(&collection, &key));
                }
                Lock::Epoch(epoch) => match self.epoch.replace(epoch) {
                    Some(other) if other != epoch => return Err(OtherEpoch.into()),
                    before => is_unseen = before.is_none(),
                },
                Lock::NextEpoch(epoch) => {
                    self.exclusive.extend(0..SLOTS);
                    self.next_epoch = Some(epoch);
                    self.held.clear();
                }
            }
        }
        self.wanted.extend(&self.exclusive);
        self.wanted.retain(|slot| !self.held.contains(slot));
        if is_unseen {
            // The held slots were changed in any epoch.
            self.wanted.extend(self.held.first());
        }
        Ok(())
    }

    /// Returns the statement that changes the wanted slots, and their number, if there are some.
    pub(super) fn take(&mut self) -> Option<SlotsStatement> {
        let wanted = std::mem::take(&mut self.wanted);
        let number = wanted.len();
        let mut filter = match (wanted.first(), number) {
            (Some(&slot), 1) => rawdoc! { "_id": slot as i32 },
            _ if number == SLOTS as usize => {
                // One scan costs a server less than a look-up for each slot.
                rawdoc! { "_id": { "$lt": SLOTS as i32 } }
            }
            _ => {
                let mut ids = RawArrayBuf::new();
                for &slot in &wanted {
                    ids.push(slot as i32);
                }
                rawdoc! { "_id": { "$in": ids } }
            }
        };
        self.held.extend(wanted);
        let mut update = rawdoc! { "$inc": { "n": 1_i64 } };
        let next_epoch = self.next_epoch.take();
        match (next_epoch, self.epoch) {
            (Some(epoch), _) => update.append(cstr!("$set"), rawdoc! { "epoch": epoch }),
            (None, Some(epoch)) => filter.append(cstr!("epoch"), epoch),
            (None, None) => {}
        }
        (number > 0).then(|| SlotsStatement {
            filter,
            update,
            number: number as u64,
            has_epoch: next_epoch.is_none() && self.epoch.is_some(),
        })
    }

    /// Wants any slot, unless the transaction holds or wants one: a lock on the store changes all of them.
    pub(super) fn share_store(&mut self, turn: &Turn) {
        if self.held.is_empty() && self.wanted.is_empty() {
            self.wanted.insert(turn.next() % SLOTS);
        }
    }
}

/// A change of slots.
pub(super) struct SlotsStatement {
    pub(super) filter: RawDocumentBuf,
    /// The update of each.
    pub(super) update: RawDocumentBuf,
    /// How many slots match.
    pub(super) number: u64,
    /// Whether slots match only in the epoch of the transaction.
    has_epoch: bool,
}

impl SlotsStatement {
    /// Checks how many slots have matched.
    pub(super) fn check(&self, matched: u64) -> Result<()> {
        match matched == self.number {
            true => Ok(()),
            false if self.has_epoch => Err(OtherEpoch.into()),
            false => Err(missing()),
        }
    }
}

/// The error of missing slots.
pub(super) fn missing() -> Error {
    let message = format!(
        "documents of `{COLLECTION}` are missing: connect to the store again, which creates them"
    );
    Error::new(Kind::Corrupt, message)
}

/// The slots of a document.
fn window(collection: &str, key: &[u8]) -> impl Iterator<Item = u32> {
    let begin = hash(collection, key);
    (0..STRIPES).map(move |stripe| begin.wrapping_add(stripe) % SLOTS)
}

/// FNV-1a: it must be the same in all processes, regardless of their version of the standard library.
fn hash(collection: &str, key: &[u8]) -> u32 {
    let bytes = collection.bytes().chain([0]).chain(key.iter().copied());
    bytes.fold(0x811c_9dc5, |hash: u32, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// Creates the documents that are missing.
pub(super) async fn ensure(database: &Database) -> Result<()> {
    let about = About::collection(COLLECTION);
    // A failover must not undo the slots, regardless of the client's write concern.
    let options = CollectionOptions::builder()
        .read_concern(ReadConcern::majority())
        .write_concern(WriteConcern::majority())
        .selection_criteria(SelectionCriteria::ReadPreference(ReadPreference::Primary))
        .build();
    let collection = database.collection_with_options::<Document>(COLLECTION, options);
    let there = collection.count_documents(doc! {}).await;
    if driver(there, about)? >= u64::from(SLOTS) {
        return Ok(());
    }
    let slots = (0..SLOTS).map(|slot| doc! { "_id": slot as i32, "n": 0_i64, "epoch": 0_i64 });
    match collection.insert_many(slots).ordered(false).await {
        // Another process creates them too.
        Err(error) if is_duplicate(&error) => Ok(()),
        created => driver(created, about).map(drop),
    }
}

fn is_duplicate(error: &::mongodb::error::Error) -> bool {
    match &*error.kind {
        ErrorKind::InsertMany(error) => {
            let errors = error.write_errors.as_ref();
            let is_duplicate =
                errors.is_some_and(|errors| errors.iter().all(|error| error.code == DUPLICATE_KEY));
            is_duplicate && error.write_concern_error.is_none()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(key: &[u8]) -> Lock {
        Lock::Shared {
            collection: "parts".to_owned(),
            key: key.to_vec(),
        }
    }

    #[test]
    fn the_slots_of_a_document_are_the_same_in_every_process_and_version() {
        assert_eq!(hash("", b""), 0x811c_9dc5_u32.wrapping_mul(0x0100_0193));
        let slots: Vec<u32> = window("parts", b"\x10\x01").collect();
        assert_eq!(slots.len(), STRIPES as usize);
        assert_eq!(slots[0], hash("parts", b"\x10\x01") % SLOTS);
    }

    #[test]
    fn an_exclusive_lock_has_a_slot_of_each_that_shares_the_document() {
        let turn = Turn::new();
        let mut exclusive = Slots::default();
        let lock = Lock::Exclusive {
            collection: "parts".to_owned(),
            key: b"a".to_vec(),
        };
        exclusive.add(vec![lock], &turn).unwrap();
        for _ in 0..100 {
            let mut slots = Slots::default();
            slots.add(vec![shared(b"a")], &turn).unwrap();
            assert_eq!(slots.wanted.len(), 1);
            assert!(slots.wanted.is_subset(&exclusive.wanted));
        }
    }

    #[test]
    fn a_unit_that_is_run_again_begins_with_the_locks_that_it_could_do_without() {
        let (turn, key) = (Turn::new(), b"a".to_vec());
        let collection = "parts".to_owned();
        let mut slots = Slots::default();
        let lock = Lock::IfRunAgain { collection, key };
        slots.add(vec![lock, shared(b"b")], &turn).unwrap();
        assert_eq!(slots.take().map(|taken| taken.number), Some(1));
        let mut again = Slots::again(slots.into_wanted_again());
        let taken = again.take().map(|taken| taken.number);
        assert_eq!(taken, Some(u64::from(STRIPES)));
        assert_eq!(again.into_wanted_again(), window("parts", b"a").collect());
    }

    #[test]
    fn as_many_as_there_are_stripes_share_a_document_without_meeting() {
        let turn = Turn::new();
        let mut all = BTreeSet::new();
        for _ in 0..STRIPES {
            let mut slots = Slots::default();
            slots.add(vec![shared(b"a")], &turn).unwrap();
            all.append(&mut slots.wanted);
        }
        assert_eq!(all.len(), STRIPES as usize);
    }

    #[test]
    fn the_lock_of_the_store_meets_every_transaction_that_writes() {
        let turn = Turn::new();
        let mut all = Slots::default();
        all.add(vec![Lock::NextEpoch(1)], &turn).unwrap();
        let mut plain = Slots::default();
        plain.share_store(&turn);
        assert_eq!(plain.wanted.len(), 1);
        assert!(plain.wanted.is_subset(&all.wanted));
    }

    #[test]
    fn a_slot_is_changed_once_in_a_transaction() {
        let turn = Turn::new();
        let mut slots = Slots::default();
        let exclusive = || Lock::Exclusive {
            collection: "parts".to_owned(),
            key: b"a".to_vec(),
        };
        slots.add(vec![exclusive()], &turn).unwrap();
        assert_eq!(
            slots.take().map(|taken| taken.number),
            Some(u64::from(STRIPES))
        );
        slots.add(vec![exclusive(), shared(b"a")], &turn).unwrap();
        slots.share_store(&turn);
        assert!(slots.take().is_none());
    }
}
