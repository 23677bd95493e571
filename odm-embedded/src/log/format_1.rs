//! The records of a log of format 1, which an older version of the library has left.
//!
//! | bytes | content; all numbers are big-endian |
//! |---|---|
//! | 4 | CRC-32 of all that follows |
//! | 4 | length of the changes |
//! | 8 | generation of the log |
//! | 8 | number of the record in its generation, from 0 |
//! | 4 | number of units |
//! | | the changes, as in format 2 |
//!
//! There is no mark, and no record says how far the log is synced: damage cannot be told from a torn end.

use super::{
    head::PAGE,
    record::{CHANGES, LogRecord, long, number},
};

pub(super) const FORMAT: u32 = 1;

/// Where the first record is.
pub(super) const RECORDS: usize = 2 * PAGE;

/// The length of the bytes before the changes.
const HEAD: usize = 28;

/// The record at the start of the bytes, if it is whole and has this generation and number.
pub(super) fn decode(bytes: &[u8], expected: (u64, u64)) -> Option<LogRecord<'_>> {
    let mut head = bytes.get(..HEAD)?;
    let checksum = number(&mut head)?;
    let len = number(&mut head)? as usize;
    let found = (long(&mut head)?, long(&mut head)?);
    let units = number(&mut head)?;
    let len = HEAD.checked_add(len)?;
    let record = bytes.get(..len)?;
    let is_whole = found == expected && crc32fast::hash(&record[4..]) == checksum;
    is_whole.then_some(LogRecord {
        units,
        kind: CHANGES,
        len,
        changes: &record[HEAD..],
    })
}
