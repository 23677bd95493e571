//! The content of a log, and the detection of damage in it.
//!
//! The records are read from the first one on. The first that is incomplete, or is not the next one, is either the end, torn by a crash, or
//! damaged. It is damaged if something readable says that its place was synced: the mark, or the head of a record of the same generation,
//! anywhere behind, or the head of the next generation, which is written when all of a generation is synced.
//!
//! They never say so of a place that a crash may lose. A record and the mark say how far the file *was* synced, by a sync that had
//! succeeded before they were written, and synced bytes are not written again in their generation. A disk may store a later record that was
//! not synced and not an earlier one: the later one then says that the earlier was not synced either. And all acknowledged records lie
//! before a position that the mark had in the file when the acknowledgement was given.
//!
//! It cannot be decided whether something is missing behind all readable records, if the mark is an older one or cannot be read either.
//! After a loss of power this may hold for the records of the last two syncs.

use std::ops::Deref;

use memchr::memmem;

use super::{
    format_1,
    head::{Head, Last, PAGE, Salt},
    mark::Mark,
    record::{FoundRecord, GENERATION, LogRecord},
};
use crate::{layout::Tree, overlay::Overlay};

/// The records of one generation, up to the first that cannot be read.
#[derive(Debug)]
pub(super) struct Contents {
    /// Whether all say how the numbers of entries change.
    pub(super) has_growths: bool,
    pub(super) units: u64,
    /// The position after them.
    pub(super) end: usize,
    pub(super) damage: Option<Damage>,
}

/// Something in a log that was synced and cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damage {
    /// The position of the first unreadable record.
    pub(super) at: usize,
    /// How many units are known to have been written there and after.
    pub(super) units: u64,
}

/// A record that only a later version of the library can have written.
struct OfLaterVersion;

/// The records of a generation that were not read yet.
struct Records<'b> {
    bytes: &'b [u8],
    generation: u64,
    salt: Option<Salt>,
    /// How many records and units were read, and the position behind them.
    read: u64,
    units: u64,
    end: usize,
}

impl<'b> Records<'b> {
    fn new(bytes: &'b [u8], head: &Head) -> Records<'b> {
        let segment = head.segment();
        let end = usize::try_from(segment.end).ok();
        Records {
            bytes: end.and_then(|end| bytes.get(..end)).unwrap_or(bytes),
            generation: head.named.generation as u64,
            salt: head.salt(),
            read: 0,
            units: 0,
            end: segment.start as usize,
        }
    }

    /// The next record, if it is whole.
    fn next(&mut self) -> Result<Option<LogRecord<'b>>, OfLaterVersion> {
        let rest = self.bytes.get(self.end..).unwrap_or_default();
        let record = match self.salt {
            Some(salt) => {
                let found = FoundRecord::decode(rest, salt, self.generation);
                match found.filter(|found| found.head.before == self.units) {
                    Some(found) if !found.is_of_changes() => return Err(OfLaterVersion),
                    found => found.and_then(|found| found.whole()),
                }
            }
            None => format_1::decode(rest, (self.generation, self.read)),
        };
        if let Some(record) = &record {
            self.read += 1;
            self.units += u64::from(record.units);
            self.end += record.len;
        }
        Ok(record)
    }
}

/// Makes the changes of all records of a generation again, in memory. `before` returns the values before the generation. `None` if one of
/// the records was made for other values.
pub(super) fn redo<V: Deref<Target = [u8]>>(
    bytes: &[u8],
    head: &Head,
    before: impl Fn(Tree, &[u8]) -> odm_store::Result<Option<V>>,
) -> odm_store::Result<Option<Overlay>> {
    let mut changes = Overlay::default();
    let mut records = Records::new(bytes, head);
    while let Ok(Some(record)) = records.next() {
        if !record.redo(&mut changes, &before)? {
            return Ok(None);
        }
        // The changes are never undone.
        changes.forget();
    }
    Ok(Some(changes))
}

/// Reads the records of a generation. `None` if a whole record can only be from a later version.
///
/// `whole` is the end of the generation, if a later one says that it was synced.
pub(super) fn read(bytes: &[u8], head: &Head, whole: Option<Last>) -> Option<Contents> {
    let mut records = Records::new(bytes, head);
    let mut has_growths = true;
    while let Some(record) = records.next().ok()? {
        if !record.is_readable() {
            return None;
        }
        has_growths &= record.has_growths();
    }
    let Records {
        bytes,
        generation,
        units,
        end,
        ..
    } = records;
    let mut contents = Contents {
        has_growths,
        units,
        end,
        damage: None,
    };
    contents.damage = match (whole, head.salt()) {
        (Some(whole), _) => (contents.end as u64 != whole.end).then(|| Damage {
            at: contents.end.min(bytes.len()),
            units: whole.units.saturating_sub(contents.units),
        }),
        (None, Some(salt)) => {
            let mark = Mark::read(bytes, head.mark(), salt, generation);
            let (synced, written) = find_behind(bytes, salt, generation, mark, contents.end);
            // A log is created with its heads and marks.
            let is_cut = bytes.len() < head.least_len();
            (is_cut || synced > contents.end as u64).then(|| Damage {
                at: contents.end.min(bytes.len()),
                units: written.saturating_sub(contents.units),
            })
        }
        (None, None) => None,
    };
    Some(contents)
}

/// Searches behind the last record that was read, and returns how far the generation was synced, and how many units were written. Damage can
/// move records by any number of bytes, so a record may begin at each byte.
fn find_behind(
    bytes: &[u8],
    salt: Salt,
    generation: u64,
    mark: Option<Mark>,
    end: usize,
) -> (u64, u64) {
    let (mut synced, mut units) = mark.map_or((0, 0), |mark| (mark.end, mark.units));
    // The number of the generation is found faster than a head. Finds may overlap.
    let number = generation.to_be_bytes();
    let number = memmem::Finder::new(&number);
    let until = bytes
        .len()
        .min(written(bytes) + GENERATION + size_of::<u64>());
    let mut from = end + GENERATION;
    while let Some(at) = bytes.get(from..until).and_then(|rest| number.find(rest)) {
        let head = &bytes[from + at - GENERATION..];
        from += at + 1;
        let Some(found) = FoundRecord::decode(head, salt, generation) else {
            continue;
        };
        synced = synced.max(found.head.synced);
        let written = found.head.before.saturating_add(found.head.units.into());
        if written > units && found.whole().is_some() {
            units = written;
        }
    }
    (synced, units)
}

/// A length after which there are only zeros, with which a log is filled. It saves the search there, in the generation 0.
fn written(bytes: &[u8]) -> usize {
    let mut written = bytes;
    while let Some(before) = written.strip_suffix(&[0; PAGE]) {
        written = before;
    }
    written.len()
}
