//! A log that has a file: how records and heads are written.

use std::{
    io,
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use odm_store::Result;

use super::{
    contents::Contents,
    head::{Generation, Head, Last, Salt, Segment},
    mark::{Appended, Mark},
    record::{self, RecordHead},
};
use crate::{engine::Backend, layout::Tree, overlay::Overlay};

/// The number of bytes by which a log grows. It is filled with zeros, since a sync is fast if the length and the blocks of a file stay.
const GROWTH: u64 = 1 << 20;

/// A log that has a file.
pub(super) struct OpenLog {
    pub(super) file: Arc<dyn Backend>,
    pub(super) head: Head,
    max_len: u64,
    /// The number of units of the generation.
    pub(super) units: u64,
    /// The position of the next record.
    pub(super) end: u64,
    /// Whether a crash has ended the generation: a torn record behind the last readable one could be taken for the successor of a new one.
    has_ended: bool,
    /// The known synced position of the file in this generation.
    synced: Arc<AtomicU64>,
    /// How far the segments are filled: that of the present generation, and the other one.
    filled: [u64; 2],
    /// Memory for the next record.
    buffer: Vec<u8>,
}

/// A record in the buffer of a log.
pub(super) struct EncodedRecord {
    salt: Salt,
    units: u32,
}

impl OpenLog {
    /// A log whose file was created with this head.
    pub(super) fn new(file: Arc<dyn Backend>, head: Head, max_len: u64) -> OpenLog {
        let Segment { start, .. } = head.segment();
        let other = Segment::of(head.named.next(), max_len);
        OpenLog {
            file,
            head,
            max_len,
            units: 0,
            end: start,
            has_ended: false,
            synced: Arc::new(AtomicU64::new(start)),
            filled: [start, other.start],
            buffer: Vec::new(),
        }
    }

    /// A log of which a generation was read up to a torn or missing record.
    pub(super) fn read(
        file: Arc<dyn Backend>,
        head: Head,
        max_len: u64,
        found: &Contents,
    ) -> OpenLog {
        OpenLog {
            units: found.units,
            end: found.end as u64,
            has_ended: true,
            ..OpenLog::new(file, head, max_len)
        }
    }

    /// Encodes the next record for [`append`](OpenLog::append), unless the segment has no room for it or its generation has ended. `before` returns the values to which
    /// the changes are made.
    pub(super) fn encode<V: Deref<Target = [u8]>>(
        &mut self,
        units: usize,
        changes: &Overlay,
        before: impl Fn(Tree, &[u8]) -> Result<Option<V>>,
    ) -> Result<Option<EncodedRecord>> {
        let Some(salt) = self.head.salt().filter(|_| !self.has_ended) else {
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
        let room = (self.head.segment().end - self.end) as usize;
        let trees = changes.trees();
        let is_encoded = record::encode(&mut self.buffer, salt, head, trees, room, before)?;
        Ok(is_encoded.then_some(EncodedRecord { salt, units }))
    }

    pub(super) fn is_begun(&self) -> bool {
        !self.has_ended
    }

    /// Appends the record that was encoded.
    pub(super) fn append(&mut self, record: EncodedRecord) -> io::Result<Appended> {
        let end = self.end + self.buffer.len() as u64;
        self.fill(end)?;
        self.file.write(self.end, &self.buffer)?;
        self.end = end;
        self.units += u64::from(record.units);
        Ok(self.appended(record.salt))
    }

    /// Fills the segment with zeros up to a position, and beyond it.
    fn fill(&mut self, end: u64) -> io::Result<()> {
        let [filled, _] = &mut self.filled;
        if end > *filled {
            let to = end.next_multiple_of(GROWTH).min(self.head.segment().end);
            let zeros = vec![0; (to - *filled) as usize];
            self.file.write(*filled, &zeros)?;
            *filled = to;
        }
        Ok(())
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
            place: self.head.mark(),
            synced: self.synced.clone(),
        }
    }

    /// Begins the next generation in the other segment, whose records must not be needed any more. All records are synced then.
    pub(super) fn begin_generation(&mut self) -> io::Result<Generation> {
        // The head says that the generation before is whole: it must not be on the disk before the records are.
        if self.synced.load(Ordering::Relaxed) < self.end {
            self.file.sync_data()?;
        }
        let last = Last {
            units: self.units,
            end: self.end,
        };
        self.head = self.head.next(self.max_len, last);
        let Segment { start, .. } = self.head.segment();
        self.units = 0;
        self.end = start;
        self.has_ended = false;
        self.synced = Arc::new(AtomicU64::new(start));
        self.filled.swap(0, 1);
        write_head(&*self.file, &self.head)?;
        Ok(self.head.named)
    }
}

/// Writes the head of a generation, durably.
pub(super) fn write_head(file: &dyn Backend, head: &Head) -> io::Result<()> {
    file.write(head.place(), &head.page())?;
    file.sync_data()
}
