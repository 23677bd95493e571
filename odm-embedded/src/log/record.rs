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
//! length of the value is `ffffffff` if the key is removed. In a record of kind 1, each change begins with the number of its tree, and the
//! numbers of entries are not known.
//!
//! The length `fffffffe` is reserved for values that are written as the difference from the value before, and other kinds of records for
//! other content: they are refused, since only a later version can have written them.

use super::head::Salt;
use crate::{
    layout::Tree,
    overlay::{ChangesByKey, Overlay},
};

/// The length of the bytes before the changes.
pub(super) const HEAD: usize = 44;

/// Where a head has its generation.
const GENERATION: usize = 16;

/// The kind of a record that has the changes of a commit one by one.
pub(super) const CHANGES: u32 = 1;

/// The kind of a record that has the changes of a commit by trees.
const TREES: u32 = 2;

/// The length of the value of a key that is removed.
const REMOVED: u32 = u32::MAX;

/// The length of a value that is written as a difference.
const DIFFERENCE: u32 = u32::MAX - 1;

/// The length of a change without its key and value.
const CHANGE: usize = 8;

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

/// Encodes a record, or returns `false` if it is longer than `limit`.
pub(super) fn encode<'a>(
    buffer: &mut Vec<u8>,
    salt: Salt,
    head: RecordHead,
    trees: impl Iterator<Item = (Tree, &'a ChangesByKey, i64)>,
    limit: usize,
) -> bool {
    buffer.clear();
    buffer.extend_from_slice(&[0; HEAD]);
    // A unit of the group that has failed may leave trees without changes.
    for (tree, changes, growth) in trees.filter(|(_, changes, _)| !changes.is_empty()) {
        buffer.extend_from_slice(&tree.to_be_bytes());
        buffer.extend_from_slice(&growth.to_be_bytes());
        // Each takes more than a byte of a record within `limit`.
        buffer.extend_from_slice(&(changes.len() as u32).to_be_bytes());
        for (key, value) in changes {
            let value = value.as_deref();
            let len = key.len() + value.map_or(0, <[u8]>::len);
            if buffer.len() + CHANGE + len > limit {
                return false;
            }
            // No length is above `limit`, which is below `DIFFERENCE`.
            let value_len = value.map_or(REMOVED, |value| value.len() as u32);
            for number in [key.len() as u32, value_len] {
                buffer.extend_from_slice(&number.to_be_bytes());
            }
            buffer.extend_from_slice(key);
            buffer.extend_from_slice(value.unwrap_or_default());
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
    true
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
        // This comparison is cheap, and nearly always fails where there is no record.
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

impl LogRecord<'_> {
    /// Whether it says how the numbers of entries change.
    pub(super) fn has_growths(&self) -> bool {
        self.kind == TREES
    }

    /// Makes the changes after those of an overlay. `None` if one of them cannot be read.
    pub(super) fn redo(&self, overlay: &mut Overlay) -> Option<()> {
        let mut rest = self.changes;
        while !rest.is_empty() {
            let tree = number(&mut rest)?;
            let (growth, changes) = match self.kind {
                CHANGES => (0, 1),
                _ => (long(&mut rest)?.cast_signed(), number(&mut rest)?),
            };
            overlay.grow(tree, growth);
            for _ in 0..changes {
                let (key, value) = change(&mut rest)?;
                overlay.set(tree, key, value);
            }
        }
        Some(())
    }
}

/// A key, and its new value.
fn change<'b>(bytes: &mut &'b [u8]) -> Option<(&'b [u8], Option<&'b [u8]>)> {
    let key = number(bytes)?;
    let value = number(bytes)?;
    let key = bytes.split_off(..key as usize)?;
    match value {
        REMOVED => Some((key, None)),
        DIFFERENCE => None,
        len => Some((key, Some(bytes.split_off(..len as usize)?))),
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

    fn record() -> Vec<u8> {
        let mut buffer = Vec::new();
        assert!(encode(&mut buffer, SALT, HERE, changes().trees(), 1000));
        buffer
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
        let mut redone = Overlay::default();
        record.redo(&mut redone).expect("changes");
        assert!(redone.trees().eq(changes().trees()));
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
    fn a_value_that_is_written_as_a_difference_is_not_taken_for_another() {
        let (mut by_trees, mut one_by_one) = (Vec::new(), Vec::new());
        for number in [1, 0, 0, 1, 0, DIFFERENCE] {
            by_trees.extend_from_slice(&u32::to_be_bytes(number));
        }
        for number in [1, 0, DIFFERENCE] {
            one_by_one.extend_from_slice(&u32::to_be_bytes(number));
        }
        for (kind, changes) in [(TREES, by_trees), (CHANGES, one_by_one)] {
            let record = LogRecord {
                units: 1,
                kind,
                len: HEAD + changes.len(),
                changes: &changes,
            };
            assert_eq!(record.redo(&mut Overlay::default()), None);
        }
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
        let mut redone = Overlay::default();
        record.redo(&mut redone).expect("changes");
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
            let len = HEAD + trees as usize * (16 + CHANGE + 101);
            assert!(encode(&mut buffer, SALT, HERE, changes.trees(), len));
            assert_eq!(buffer.len(), len);
            assert!(!encode(&mut buffer, SALT, HERE, changes.trees(), len - 1));
        }
    }
}
