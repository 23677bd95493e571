//! A log that has a file: how records and heads are written.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    RECORDS,
    head::{Generation, Head, Salt},
    mark::{Appended, Mark},
    record::{self, RecordHead},
};
use crate::engine::{Backend, KeyChange};

/// The divisor of the log's maximum length that bounds one record. It is cheaper to write longer changes only once, into the engine.
const RECORD_PART: u64 = 4;

/// The number of changes after which the log is cut. It bounds the pages that the engine must write then.
const MAX_CHANGES: usize = 1 << 15;

/// The number of bytes by which a log grows. It is filled with zeros, since a sync is fast if the length and the blocks of a file stay.
const GROWTH: u64 = 1 << 20;

/// A log that has a file.
pub(super) struct OpenLog {
    pub(super) file: Arc<dyn Backend>,
    pub(super) head: Head,
    /// The number of units since the last cut.
    pub(super) units: u64,
    /// The position of the next record.
    pub(super) end: u64,
    /// The known synced position of the file in this generation.
    synced: Arc<AtomicU64>,
    /// How far the file is filled.
    filled: u64,
    /// The number of changes since the last cut.
    changes: usize,
    /// Memory for the next record.
    buffer: Vec<u8>,
}

impl OpenLog {
    pub(super) fn new(file: Arc<dyn Backend>, head: Head, filled: u64) -> OpenLog {
        OpenLog {
            file,
            head,
            units: 0,
            end: RECORDS,
            synced: Arc::new(AtomicU64::new(RECORDS)),
            filled,
            changes: 0,
            buffer: Vec::new(),
        }
    }

    pub(super) fn append<'a>(
        &mut self,
        units: usize,
        changes: impl Iterator<Item = KeyChange<'a>>,
        max_len: u64,
    ) -> io::Result<Option<Appended>> {
        let Some(salt) = self.head.salt() else {
            // A log of an older version is only read.
            return Ok(None);
        };
        // The changes of a portion of an index count as a unit.
        let units = u32::try_from(units.max(1)).unwrap_or(u32::MAX);
        let head = RecordHead {
            generation: self.head.named.generation as u64,
            before: self.units,
            units,
            synced: self.synced.load(Ordering::Relaxed),
        };
        let limit = max_len.saturating_sub(self.end).min(max_len / RECORD_PART);
        let mut count = 0;
        let changes = changes.inspect(|_| count += 1);
        if self.changes >= MAX_CHANGES
            || !record::encode(&mut self.buffer, salt, head, changes, limit as usize)
        {
            return Ok(None);
        }
        let end = self.end + self.buffer.len() as u64;
        if end > self.filled {
            let filled = end.next_multiple_of(GROWTH.min(max_len));
            let zeros = vec![0; (filled - self.filled) as usize];
            self.file.write(self.filled, &zeros)?;
            self.filled = filled;
        }
        self.file.write(self.end, &self.buffer)?;
        self.end = end;
        self.units += u64::from(units);
        self.changes += count;
        Ok(Some(self.appended(salt)))
    }

    fn appended(&self, salt: Salt) -> Appended {
        Appended {
            file: self.file.clone(),
            salt,
            mark: Mark {
                generation: self.head.named.generation as u64,
                units: self.units,
                end: self.end,
            },
            synced: self.synced.clone(),
        }
    }

    pub(super) fn begin_generation(&mut self) -> io::Result<Generation> {
        self.head = self.head.next();
        self.file.write(self.head.place(), &self.head.page())?;
        self.file.sync_data()?;
        Ok(self.head.named)
    }

    /// Begins with the first record again.
    pub(super) fn cut(&mut self) {
        self.units = 0;
        self.end = RECORDS;
        self.synced = Arc::new(AtomicU64::new(RECORDS));
        self.changes = 0;
    }
}
