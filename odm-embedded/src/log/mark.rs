//! The mark: how far the log is synced.
//!
//! | bytes | content; all numbers are big-endian |
//! |---|---|
//! | 4 | CRC-32 of all that follows, salted |
//! | 8 | generation of the log |
//! | 8 | number of units of the generation that are synced |
//! | 8 | position behind their records |
//!
//! It is written after each sync and before anyone is told of it, into a sector of its own, which a disk writes whole or not at all. It is
//! not synced itself: the next sync does that. So a process that is killed leaves the last mark, and a loss of power leaves a mark that is
//! a sync or two older, or none. An unreadable mark says nothing.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{head::Salt, record::long};
use crate::engine::Backend;

const LEN: usize = 28;

/// How far a generation is synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) generation: u64,
    pub(super) units: u64,
    pub(super) end: u64,
}

impl Mark {
    fn encode(self, salt: Salt) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        bytes[4..12].copy_from_slice(&self.generation.to_be_bytes());
        bytes[12..20].copy_from_slice(&self.units.to_be_bytes());
        bytes[20..].copy_from_slice(&self.end.to_be_bytes());
        let checksum = salt.checksum(&bytes[4..]);
        bytes[..4].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    /// The mark at a place in the bytes of a log, if it is whole and of this generation.
    pub(super) fn read(bytes: &[u8], place: u64, salt: Salt, generation: u64) -> Option<Mark> {
        let found = bytes.get(place as usize..)?.get(..LEN)?;
        let mut numbers = &found[4..];
        let mark = Mark {
            generation: long(&mut numbers)?,
            units: long(&mut numbers)?,
            end: long(&mut numbers)?,
        };
        (mark.generation == generation && mark.encode(salt) == found).then_some(mark)
    }
}

/// A log up to one of its records, to be synced.
#[derive(Clone)]
pub(in super::super) struct Appended {
    pub(super) file: Arc<dyn Backend>,
    pub(super) salt: Salt,
    pub(super) mark: Mark,
    /// The position of the mark in the file.
    pub(super) place: u64,
    /// The synced position for the next record.
    pub(super) synced: Arc<AtomicU64>,
}

impl Appended {
    /// Makes the record and all before it durable, and records that in the log.
    pub(in super::super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()?;
        // From here on it is true, regardless of later writes and of how many of them reach the disk.
        self.synced.fetch_max(self.mark.end, Ordering::Relaxed);
        self.file.write(self.place, &self.mark.encode(self.salt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_is_torn_changed_or_of_another_generation_says_nothing() {
        let (salt, mark) = (
            Salt(77),
            Mark {
                generation: 3,
                units: 20,
                end: 1 << 20,
            },
        );
        const PLACE: usize = 4096;
        let read =
            |bytes: &[u8], salt, generation| Mark::read(bytes, PLACE as u64, salt, generation);
        let mut bytes = vec![0; PLACE];
        assert_eq!(read(&bytes, salt, 3), None);
        bytes.extend_from_slice(&mark.encode(salt));
        assert_eq!(read(&bytes, salt, 3), Some(mark));
        assert_eq!(read(&bytes, salt, 4), None);
        assert_eq!(read(&bytes, Salt(78), 3), None);
        for at in PLACE..bytes.len() {
            assert_eq!(read(&bytes[..at], salt, 3), None);
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert_eq!(read(&changed, salt, 3), None);
        }
        assert_eq!(read(&vec![0; 2 * PLACE], salt, 0), None);
    }
}
