//! The records of a log: the changes of one commit each.
//!
//! | bytes | content; all numbers are big-endian |
//! |---|---|
//! | 4 | CRC-32 of all that follows |
//! | 4 | length of the changes |
//! | 8 | generation of the log |
//! | 8 | number of the record in its generation, from 0 |
//! | 4 | number of units |
//! | | the changes |
//!
//! A change is the number of its tree, the length of its key, the length of its value (4 bytes each), the key
//! and the value. The length of the value is `ffffffff` if the key is removed.

use crate::store::embedded::{engine::KeyChange, layout::Tree};

/// The length of what stands before the changes.
const HEAD: usize = 28;

/// The length of the value of a key that is removed.
const REMOVED: u32 = u32::MAX;

/// The place of a record among all records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) generation: u64,
    pub(super) number: u64,
}

/// Encodes a record, or returns `false` if it is longer than `limit`.
pub(super) fn encode<'a>(
    buffer: &mut Vec<u8>,
    position: Position,
    units: usize,
    changes: impl Iterator<Item = KeyChange<'a>>,
    limit: usize,
) -> bool {
    buffer.clear();
    buffer.extend_from_slice(&[0; HEAD]);
    for (tree, key, value) in changes {
        let len = HEAD + buffer.len() + key.len() + value.map_or(0, <[u8]>::len);
        if len > limit {
            return false;
        }
        // No length is above `limit`, which is below `REMOVED`.
        let value_len = value.map_or(REMOVED, |value| value.len() as u32);
        for number in [tree, key.len() as u32, value_len] {
            buffer.extend_from_slice(&number.to_be_bytes());
        }
        buffer.extend_from_slice(key);
        buffer.extend_from_slice(value.unwrap_or_default());
    }
    let len = (buffer.len() - HEAD) as u32;
    let units = u32::try_from(units).unwrap_or(u32::MAX);
    buffer[4..8].copy_from_slice(&len.to_be_bytes());
    buffer[8..16].copy_from_slice(&position.generation.to_be_bytes());
    buffer[16..24].copy_from_slice(&position.number.to_be_bytes());
    buffer[24..28].copy_from_slice(&units.to_be_bytes());
    let checksum = crc32fast::hash(&buffer[4..]);
    buffer[..4].copy_from_slice(&checksum.to_be_bytes());
    true
}

/// A record in the bytes of a log.
pub(super) struct Record<'b> {
    pub(super) units: u32,
    /// The length of the whole record.
    pub(super) len: usize,
    changes: &'b [u8],
}

impl<'b> Record<'b> {
    /// The record at the start of the bytes, if it is whole and has this position.
    pub(super) fn decode(bytes: &'b [u8], position: Position) -> Option<Record<'b>> {
        let mut head = bytes.get(..HEAD)?;
        let checksum = number(&mut head)?;
        let len = number(&mut head)? as usize;
        let found = Position {
            generation: long(&mut head)?,
            number: long(&mut head)?,
        };
        let units = number(&mut head)?;
        let len = HEAD.checked_add(len)?;
        let record = bytes.get(..len)?;
        let is_whole = found == position && crc32fast::hash(&record[4..]) == checksum;
        is_whole.then_some(Record {
            units,
            len,
            changes: &record[HEAD..],
        })
    }

    /// The changes, in their order. `None` stands for one that cannot be read.
    pub(super) fn changes(&self) -> impl Iterator<Item = Option<KeyChange<'b>>> {
        let mut rest = self.changes;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let change = change(&mut rest);
            if change.is_none() {
                rest = &[];
            }
            Some(change)
        })
    }
}

fn change<'b>(bytes: &mut &'b [u8]) -> Option<KeyChange<'b>> {
    let tree: Tree = number(bytes)?;
    let key = number(bytes)?;
    let value = number(bytes)?;
    let key = bytes.split_off(..key as usize)?;
    if value == REMOVED {
        return Some((tree, key, None));
    }
    let value = bytes.split_off(..value as usize)?;
    Some((tree, key, Some(value)))
}

fn number(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_be_bytes(*number))
}

fn long(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_be_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Position = Position {
        generation: 7,
        number: 3,
    };

    fn record() -> Vec<u8> {
        let changes: [KeyChange<'_>; 3] = [
            (1, b"a", Some(b"value")),
            (1, b"b", None),
            (2, b"", Some(b"")),
        ];
        let mut buffer = Vec::new();
        assert!(encode(&mut buffer, HERE, 2, changes.into_iter(), 1000));
        buffer
    }

    #[test]
    fn a_record_has_its_changes_again() {
        let mut bytes = record();
        let len = bytes.len();
        bytes.extend_from_slice(b"the next one");
        let record = Record::decode(&bytes, HERE).expect("a record");
        assert_eq!((record.units, record.len), (2, len));
        let changes: Option<Vec<_>> = record.changes().collect();
        let expected: [KeyChange<'_>; 3] = [
            (1, b"a", Some(b"value")),
            (1, b"b", None),
            (2, b"", Some(b"")),
        ];
        assert_eq!(changes.expect("changes"), expected);
    }

    #[test]
    fn a_record_that_is_torn_changed_or_of_another_position_is_none() {
        let whole = record();
        for len in 0..whole.len() {
            assert!(Record::decode(&whole[..len], HERE).is_none(), "{len} bytes");
            let mut torn = whole.clone();
            torn[len] ^= 1;
            assert!(Record::decode(&torn, HERE).is_none(), "byte {len}");
        }
        for position in [
            Position { number: 4, ..HERE },
            Position {
                generation: 6,
                ..HERE
            },
        ] {
            assert!(Record::decode(&whole, position).is_none());
        }
    }

    #[test]
    fn a_record_over_the_limit_is_not_encoded() {
        let len = record().len();
        let change: [KeyChange<'_>; 1] = [(1, b"k", Some(&[0; 100]))];
        let mut buffer = Vec::new();
        assert!(encode(&mut buffer, HERE, 1, change.into_iter(), 200));
        assert!(!encode(&mut buffer, HERE, 1, change.into_iter(), 120));
        assert!(len < 120);
    }
}
