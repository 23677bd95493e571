//! The records of a log: the changes of one commit each.
//!
//! | bytes | content; all numbers are big-endian |
//! |---|---|
//! | 4 | CRC-32 of the rest of the head, salted |
//! | 4 | CRC-32 of the changes |
//! | 4 | kind: 2, or 1 in older logs |
//! | 4 | length of the changes |
//! | 8 | generation of the log |
//! | 8 | number of units of the generation that were committed before |
//! | 4 | number of units, at least 1 |
//! | 8 | position up to which the log was synced before the record was written |
//! | | the changes |
//!
//! The head has a checksum of its own, so that the search for records behind damage does not compute checksums over bytes that may not be a
//! record, and so that the head of a record is valid even if the rest is damaged.
//!
//! The changes stand by trees: the number of the tree (4 bytes), by how much the number of its entries changes (8, signed), the number of
//! changes (4), and the changes. A change is the length of its key, the length of its value (4 bytes each), the key and the value. The
//! length of the value is `ffffffff` if the key is removed. It is `fffffffe` if the value is written as its difference from the one before:
//! then the length of the difference follows (4 bytes), the key and the difference. In a record of kind 1, each change begins with the
//! number of its tree, and the numbers of entries are not known.
//!
//! Other kinds are refused, since only a later version can have written them.

use std::ops::Deref;

use odm_store::Result;

use super::{difference, head::Salt};
use crate::{
    layout::Tree,
    overlay::{ChangesByKey, NewValue, Overlay},
};

/// The length of the bytes before the changes.
pub(super) const HEAD: usize = 44;

/// Where a head has its generation.
pub(super) const GENERATION: usize = 16;

/// The kind of a record that has the changes of a commit one by one.
pub(super) const CHANGES: u32 = 1;

/// The kind of a record that has the changes of a commit by trees.
const TREES: u32 = 2;

/// The length of the value of a key that is removed.
const REMOVED: u32 = u32::MAX;

/// The length of a value that is written as a difference.
const DIFFERENCE: u32 = u32::MAX - 1;

/// The content of the head of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordHead {
    pub(super) generation: u64,
    /// The number of units before it in its generation.
    pub(super) before: u64,
    pub(super) units: u32,
    /// How far the log was synced when it was written.
    pub(super) synced: u64,
}

/// Encodes a record, or returns `false` if it is longer than `limit`. `before` returns the values to which its changes are made.
pub(super) fn encode<'a, V: Deref<Target = [u8]>>(
    buffer: &mut Vec<u8>,
    salt: Salt,
    head: RecordHead,
    trees: impl Iterator<Item = (Tree, &'a ChangesByKey, i64)>,
    limit: usize,
    before: impl Fn(Tree, &[u8]) -> Result<Option<V>>,
) -> Result<bool> {
    buffer.clear();
    buffer.extend_from_slice(&[0; HEAD]);
    // A unit of the group that has failed may leave trees without changes.
    for (tree, changes, growth) in trees.filter(|(_, changes, _)| !changes.is_empty()) {
        buffer.extend_from_slice(&tree.to_be_bytes());
        buffer.extend_from_slice(&growth.to_be_bytes());
        // Each takes more than a byte of a record within `limit`.
        buffer.extend_from_slice(&(changes.len() as u32).to_be_bytes());
        let all_new = usize::try_from(growth) == Ok(changes.len());
        for (key, value) in changes {
            let old = match value {
                Some(value) if value.len() >= difference::MIN && !all_new => before(tree, key)?,
                _ => None,
            };
            encode_change(buffer, key, value, old.as_deref());
            if buffer.len() > limit {
                return Ok(false);
            }
        }
    }
    let len = (buffer.len() - HEAD) as u32;
    let checksum = crc32fast::hash(&buffer[HEAD..]);
    buffer[4..8].copy_from_slice(&checksum.to_be_bytes());
    buffer[8..12].copy_from_slice(&TREES.to_be_bytes());
    buffer[12..16].copy_from_slice(&len.to_be_bytes());
    buffer[16..24].copy_from_slice(&head.generation.to_be_bytes());
    buffer[24..32].copy_from_slice(&head.before.to_be_bytes());
    buffer[32..36].copy_from_slice(&head.units.to_be_bytes());
    buffer[36..HEAD].copy_from_slice(&head.synced.to_be_bytes());
    let checksum = salt.checksum(&buffer[4..HEAD]);
    buffer[..4].copy_from_slice(&checksum.to_be_bytes());
    Ok(true)
}

/// Appends a change, as the difference from the old value if that is short.
fn encode_change(buffer: &mut Vec<u8>, key: &[u8], value: &NewValue, old: Option<&[u8]>) {
    // All lengths are below `DIFFERENCE`, or the record is too long.
    let put = |buffer: &mut Vec<u8>, number| buffer.extend_from_slice(&u32::to_be_bytes(number));
    let start = buffer.len();
    put(buffer, key.len() as u32);
    if let (Some(old), Some(value)) = (old, value) {
        put(buffer, DIFFERENCE);
        let len = buffer.len();
        put(buffer, 0);
        buffer.extend_from_slice(key);
        let from = buffer.len();
        if difference::encode(buffer, old, value) {
            let difference = (buffer.len() - from) as u32;
            buffer[len..len + 4].copy_from_slice(&difference.to_be_bytes());
            return;
        }
        buffer.truncate(start + 4);
    }
    put(
        buffer,
        value.as_ref().map_or(REMOVED, |value| value.len() as u32),
    );
    buffer.extend_from_slice(key);
    buffer.extend_from_slice(value.as_deref().unwrap_or_default());
}

/// A record whose head is whole. The rest may be torn.
pub(super) struct FoundRecord<'b> {
    pub(super) head: RecordHead,
    kind: u32,
    checksum: u32,
    len: usize,
    bytes: &'b [u8],
}

impl<'b> FoundRecord<'b> {
    /// The record at the start of the bytes, if its head is whole and of this generation.
    pub(super) fn decode(bytes: &'b [u8], salt: Salt, generation: u64) -> Option<FoundRecord<'b>> {
        let head = bytes.get(..HEAD)?;
        if head[GENERATION..GENERATION + 8] != generation.to_be_bytes() {
            return None;
        }
        let mut numbers = head;
        let checksum = number(&mut numbers)?;
        if salt.checksum(numbers) != checksum {
            return None;
        }
        let checksum = number(&mut numbers)?;
        let kind = number(&mut numbers)?;
        let len = HEAD.checked_add(number(&mut numbers)? as usize)?;
        let head = RecordHead {
            generation: long(&mut numbers)?,
            before: long(&mut numbers)?,
            units: number(&mut numbers)?,
            synced: long(&mut numbers)?,
        };
        Some(FoundRecord {
            head,
            kind,
            checksum,
            len,
            bytes,
        })
    }

    /// The record, if it is whole.
    pub(super) fn whole(&self) -> Option<LogRecord<'b>> {
        let changes = self.bytes.get(HEAD..self.len)?;
        (crc32fast::hash(changes) == self.checksum).then_some(LogRecord {
            units: self.head.units,
            kind: self.kind,
            len: self.len,
            changes,
        })
    }

    /// Whether this version of the library can read its content.
    pub(super) fn is_of_changes(&self) -> bool {
        [CHANGES, TREES].contains(&self.kind)
    }
}

/// A whole record.
pub(super) struct LogRecord<'b> {
    pub(super) units: u32,
    pub(super) kind: u32,
    /// The length of the whole record.
    pub(super) len: usize,
    pub(super) changes: &'b [u8],
}

/// The new value of a key.
enum RecordedValue<'b> {
    Removed,
    Whole(&'b [u8]),
    Difference(&'b [u8]),
}

/// A part of the changes of a record.
enum RecordedChange<'b> {
    Growth(Tree, i64),
    Value(Tree, &'b [u8], RecordedValue<'b>),
}

/// The changes of a record that were not read yet. An item is `None` if the record cannot be read from there on.
struct RecordedChanges<'b> {
    kind: u32,
    rest: &'b [u8],
    tree: Tree,
    /// How many changes of this tree follow.
    left: u32,
}

impl<'b> Iterator for RecordedChanges<'b> {
    type Item = Option<RecordedChange<'b>>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.left > 0 || !self.rest.is_empty()).then(|| self.read())
    }
}

impl<'b> RecordedChanges<'b> {
    fn read(&mut self) -> Option<RecordedChange<'b>> {
        if self.left == 0 {
            self.tree = number(&mut self.rest)?;
            let growth = match self.kind {
                CHANGES => 0,
                _ => long(&mut self.rest)?.cast_signed(),
            };
            self.left = match self.kind {
                CHANGES => 1,
                _ => number(&mut self.rest)?,
            };
            return Some(RecordedChange::Growth(self.tree, growth));
        }
        self.left -= 1;
        let key = number(&mut self.rest)?;
        let value = number(&mut self.rest)?;
        let difference = match value {
            DIFFERENCE if self.kind != CHANGES => Some(number(&mut self.rest)?),
            _ => None,
        };
        let key = self.rest.split_off(..key as usize)?;
        let value = match (value, difference) {
            (_, Some(len)) => RecordedValue::Difference(self.rest.split_off(..len as usize)?),
            (REMOVED, None) => RecordedValue::Removed,
            (len, None) => RecordedValue::Whole(self.rest.split_off(..len as usize)?),
        };
        Some(RecordedChange::Value(self.tree, key, value))
    }
}

impl<'b> LogRecord<'b> {
    /// Whether it says how the numbers of entries change.
    pub(super) fn has_growths(&self) -> bool {
        self.kind == TREES
    }

    fn changes(&self) -> RecordedChanges<'b> {
        RecordedChanges {
            kind: self.kind,
            rest: self.changes,
            tree: 0,
            left: 0,
        }
    }

    pub(super) fn is_readable(&self) -> bool {
        self.changes().all(|change| change.is_some())
    }

    /// Makes the changes after those of an overlay. `before` returns the values that the overlay does not have. Returns `false` if the record
    /// was made for other values.
    pub(super) fn redo<V: Deref<Target = [u8]>>(
        &self,
        overlay: &mut Overlay,
        before: impl Fn(Tree, &[u8]) -> Result<Option<V>>,
    ) -> Result<bool> {
        for change in self.changes() {
            let (tree, key, value) = match change {
                None => return Ok(false),
                Some(RecordedChange::Growth(tree, growth)) => {
                    overlay.grow(tree, growth);
                    continue;
                }
                Some(RecordedChange::Value(tree, key, value)) => (tree, key, value),
            };
            let whole;
            let value = match value {
                RecordedValue::Removed => None,
                RecordedValue::Whole(value) => Some(value),
                RecordedValue::Difference(difference) => {
                    let applied = match overlay.get(tree, key) {
                        Some(old) => old.as_deref().map(|old| difference::apply(old, difference)),
                        None => before(tree, key)?.map(|old| difference::apply(&old, difference)),
                    };
                    let Some(applied) = applied.flatten() else {
                        return Ok(false);
                    };
                    whole = applied;
                    Some(&*whole)
                }
            };
            overlay.set(tree, key, value);
        }
        Ok(true)
    }
}

pub(super) fn number(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_be_bytes(*number))
}

pub(super) fn long(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_be_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: Salt = Salt(0x1234_5678);

    const HERE: RecordHead = RecordHead {
        generation: 7,
        before: 3,
        units: 2,
        synced: 12_288,
    };

    fn changes() -> Overlay {
        let mut changes = Overlay::default();
        changes.insert(1, b"a", b"value");
        changes.remove(1, b"b");
        changes.remove(1, b"c");
        changes.put(2, b"", b"");
        changes
    }

    fn no_value(_: Tree, _: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn record() -> Vec<u8> {
        let mut buffer = Vec::new();
        let encoded = encode(&mut buffer, SALT, HERE, changes().trees(), 1000, no_value);
        assert!(encoded.expect("a record"));
        buffer
    }

    fn redone(record: &LogRecord<'_>) -> Overlay {
        let mut redone = Overlay::default();
        let is_right = record.redo(&mut redone, no_value).expect("no reads");
        assert!(is_right);
        redone
    }

    fn decode(bytes: &[u8]) -> Option<LogRecord<'_>> {
        FoundRecord::decode(bytes, SALT, HERE.generation)?.whole()
    }

    #[test]
    fn a_record_has_its_head_and_its_changes_again() {
        let mut bytes = record();
        let len = bytes.len();
        bytes.extend_from_slice(b"the next one");
        let found = FoundRecord::decode(&bytes, SALT, HERE.generation).expect("a head");
        assert_eq!(found.head, HERE);
        assert!(found.is_of_changes());
        let record = found.whole().expect("a record");
        assert_eq!((record.units, record.len), (2, len));
        assert!(record.is_readable());
        assert!(redone(&record).trees().eq(changes().trees()));
    }

    #[test]
    fn a_record_that_is_torn_changed_or_of_another_generation_or_log_is_none() {
        let whole = record();
        for len in 0..whole.len() {
            assert!(decode(&whole[..len]).is_none(), "{len} bytes");
            let mut torn = whole.clone();
            torn[len] ^= 1;
            assert!(decode(&torn).is_none(), "byte {len}");
            // The bytes behind the head have no effect on its content.
            let head = FoundRecord::decode(&torn, SALT, HERE.generation);
            assert_eq!(head.is_some(), len >= HEAD, "byte {len}");
        }
        assert!(FoundRecord::decode(&whole, SALT, HERE.generation + 1).is_none());
        assert!(FoundRecord::decode(&whole, Salt(SALT.0 + 1), HERE.generation).is_none());
        assert!(FoundRecord::decode(&[0; 100], SALT, 0).is_none());
    }

    #[test]
    fn a_long_value_is_written_as_its_difference_from_the_value_before() {
        let old = vec![1; 1000];
        let new = [&old[..500], b"new", &old[500..]].concat();
        let other = vec![2; 1000];
        let before = |_: Tree, key: &[u8]| Ok((key != b"inserted").then(|| old.clone()));
        let mut changes = Overlay::default();
        changes.insert(1, b"inserted", &new);
        changes.put(1, b"changed", &new);
        changes.put(1, b"replaced", &other);
        changes.remove(1, b"removed");
        let mut buffer = Vec::new();
        let encoded = encode(&mut buffer, SALT, HERE, changes.trees(), 3000, before);
        assert!(encoded.expect("a record"));
        assert!(buffer.len() < 2200, "{} bytes", buffer.len());
        let record = decode(&buffer).expect("a record");
        let mut redone = Overlay::default();
        assert!(record.redo(&mut redone, before).expect("a state"));
        assert!(redone.trees().eq(changes.trees()));
        // A value of an earlier record takes precedence over that of the store.
        for value in [None, Some(&*other)] {
            let mut later = Overlay::default();
            later.set(1, b"changed", value);
            assert!(!record.redo(&mut later, before).expect("a state"));
        }
        let mut lacking = Overlay::default();
        assert!(!record.redo(&mut lacking, no_value).expect("a state"));
    }

    #[test]
    fn a_record_of_an_older_log_has_no_differences() {
        let mut changes = Vec::new();
        for number in [1, 0, DIFFERENCE] {
            changes.extend_from_slice(&u32::to_be_bytes(number));
        }
        let record = LogRecord {
            units: 1,
            kind: CHANGES,
            len: HEAD + changes.len(),
            changes: &changes,
        };
        assert!(!record.is_readable());
    }

    #[test]
    fn a_record_of_an_older_log_has_its_changes_and_no_numbers_of_entries() {
        let mut changes = Vec::new();
        for number in [1, 1, 2] {
            changes.extend_from_slice(&u32::to_be_bytes(number));
        }
        changes.extend_from_slice(b"avv");
        let record = LogRecord {
            units: 1,
            kind: CHANGES,
            len: HEAD + changes.len(),
            changes: &changes,
        };
        let redone = redone(&record);
        let changes: Vec<_> = redone.iter().collect();
        assert_eq!(changes, [(1, &b"a"[..], Some(&b"vv"[..]))]);
        assert!(!record.has_growths());
    }

    #[test]
    fn a_record_over_the_limit_is_not_encoded() {
        let mut buffer = Vec::new();
        for trees in 1..4 {
            let mut changes = Overlay::default();
            for tree in 0..trees {
                changes.put(tree, b"k", &[0; 100]);
                // A change that was undone takes no room.
                let mark = changes.mark();
                changes.put(10 + tree, b"k", &[0; 100]);
                changes.undo_to(mark);
            }
            let len = HEAD + trees as usize * (16 + 8 + 101);
            let mut encode = |limit| {
                encode(&mut buffer, SALT, HERE, changes.trees(), limit, no_value).expect("no reads")
            };
            assert!(!encode(len - 1));
            assert!(encode(len));
            assert_eq!(buffer.len(), len);
        }
    }
}
