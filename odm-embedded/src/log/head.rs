//! The names of generations, and their heads in a log.

use bson::oid::ObjectId;
use serde::Deserialize;

use super::{format_1, record::long};

/// The length of a page: two parts that are written separately are never in one sector of a disk.
pub(super) const PAGE: usize = 4096;

/// The format of a log that this library writes.
pub(super) const FORMAT: u32 = 3;

/// Where the segments begin: after two heads and two marks.
pub(super) const SEGMENTS: u64 = 4 * PAGE as u64;

const MAGIC: [u8; 8] = *b"odm-log\0";

/// Where a head has its numbers, of which format 1 has none and format 2 the random one.
///
/// That number is unique in the world, so that bytes of another log, or of another generation of this one, are not taken for records.
const SEED: usize = 32;

/// A generation of a log, as the engine's file names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct Generation {
    pub(super) log: ObjectId,
    pub(super) generation: i64,
    /// Whether the store was closed: it has all commits, and needs no log.
    pub(super) closed: bool,
}

impl Generation {
    /// The first of a new log.
    pub(super) fn new() -> Generation {
        Generation::new_in(ObjectId::new())
    }

    fn new_in(log: ObjectId) -> Generation {
        Generation {
            log,
            generation: 0,
            closed: false,
        }
    }

    pub(super) fn next(&self) -> Generation {
        Generation {
            generation: self.generation.wrapping_add(1),
            ..Generation::new_in(self.log)
        }
    }
}

/// The content of the head of a generation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) named: Generation,
    form: Form,
}

/// The format of a head, with its content beside the generation.
#[derive(Debug, Clone, Copy)]
enum Form {
    One,
    Two {
        seed: u64,
    },
    Three {
        seed: u64,
        segment: Segment,
        last: Last,
    },
}

/// A part of the file, which has the records of one generation. There are two of them, used in turn, so that a generation can be written
/// while the engine is given the changes of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// The end of the generation before, all of which was synced when a generation began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Last {
    pub(super) units: u64,
    pub(super) end: u64,
}

impl Segment {
    /// The segment of a generation in a log of this length.
    pub(super) fn of(named: Generation, max_len: u64) -> Segment {
        let len = max_len.saturating_sub(SEGMENTS) / 2;
        let start = SEGMENTS + (named.generation as u64 % 2) * len;
        Segment {
            start,
            end: start + len,
        }
    }
}

impl Head {
    pub(super) fn new(named: Generation, max_len: u64, last: Last) -> Head {
        Head {
            named,
            form: Form::Three {
                seed: fastrand::u64(..),
                segment: Segment::of(named, max_len),
                last,
            },
        }
    }

    /// The head of the next generation of the same log, in the same format, after this generation had this end.
    pub(super) fn next(&self, max_len: u64, last: Last) -> Head {
        let named = self.named.next();
        let form = match self.form {
            Form::One => Form::One,
            Form::Two { .. } => Form::Two {
                seed: fastrand::u64(..),
            },
            Form::Three { .. } => return Head::new(named, max_len, last),
        };
        Head { named, form }
    }

    /// The head of a generation in the bytes of a log, if it is there.
    pub(super) fn read(bytes: &[u8], named: Generation) -> Option<Head> {
        let place = place(named);
        let found = bytes.get(place..place + PAGE)?;
        let mut numbers = found.get(SEED..)?;
        let mut next = || long(&mut numbers);
        let (seed, start, end) = (next()?, next()?, next()?);
        let (units, last) = (next()?, next()?);
        let three = Form::Three {
            seed,
            segment: Segment { start, end },
            last: Last { units, end: last },
        };
        let forms = [three, Form::Two { seed }, Form::One];
        let heads = forms.map(|form| Head { named, form });
        heads.into_iter().find(|head| head.page() == found)
    }

    /// Its position in the log.
    pub(super) fn place(&self) -> u64 {
        place(self.named) as u64
    }

    /// The part of the file with the records of the generation.
    pub(super) fn segment(&self) -> Segment {
        let all = |start| Segment {
            start,
            end: u64::MAX,
        };
        match self.form {
            Form::One => all(format_1::RECORDS as u64),
            Form::Two { .. } => all(3 * PAGE as u64),
            Form::Three { segment, .. } => segment,
        }
    }

    /// The length of a log without records.
    pub(super) fn least_len(&self) -> usize {
        let len = match self.form {
            Form::Three { .. } => SEGMENTS,
            _ => self.segment().start,
        };
        len as usize
    }

    /// The position of the mark of the generation.
    pub(super) fn mark(&self) -> u64 {
        let page = match self.form {
            Form::Three { .. } => 2 + self.named.generation as u64 % 2,
            _ => 2,
        };
        page * PAGE as u64
    }

    /// The end of the generation before, if that may be needed too.
    pub(super) fn last(&self) -> Option<Last> {
        match self.form {
            Form::Three { last, .. } => Some(last),
            _ => None,
        }
    }

    /// The salt of the checksums of this generation, or `None` in format 1.
    pub(super) fn salt(&self) -> Option<Salt> {
        let seed = match self.form {
            Form::One => return None,
            Form::Two { seed } | Form::Three { seed, .. } => seed,
        };
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.named.log.bytes());
        hasher.update(&self.named.generation.to_be_bytes());
        hasher.update(&seed.to_be_bytes());
        Some(Salt(hasher.finalize()))
    }

    /// Its bytes: the magic bytes, the format (4 bytes), the id of the log (12), the number of the generation (8), the random number (8),
    /// the begin and the end of its segment (8 each), the units and the end of the generation before (8 each), the CRC-32 of all that (4),
    /// zeros. Numbers are big-endian.
    pub(super) fn page(&self) -> Vec<u8> {
        let (format, numbers): (u32, &[u64]) = match self.form {
            Form::One => (format_1::FORMAT, &[]),
            Form::Two { seed } => (2, &[seed]),
            Form::Three {
                seed,
                segment: Segment { start, end },
                last,
            } => (FORMAT, &[seed, start, end, last.units, last.end]),
        };
        let mut page = Vec::with_capacity(PAGE);
        page.extend_from_slice(&MAGIC);
        page.extend_from_slice(&format.to_be_bytes());
        page.extend_from_slice(&self.named.log.bytes());
        page.extend_from_slice(&self.named.generation.to_be_bytes());
        for number in numbers {
            page.extend_from_slice(&number.to_be_bytes());
        }
        page.extend_from_slice(&crc32fast::hash(&page).to_be_bytes());
        page.resize(PAGE, 0);
        page
    }
}

/// The position of the head of a generation. Two successive generations have different positions.
fn place(named: Generation) -> usize {
    named.generation as usize % 2 * PAGE
}

/// The format of a log that a later version of the library has written, if it is one.
pub(super) fn later_format(bytes: &[u8]) -> Option<u32> {
    let format = |page: &[u8]| {
        let format = page.strip_prefix(&MAGIC)?.first_chunk()?;
        Some(u32::from_be_bytes(*format))
    };
    let formats = bytes.chunks(PAGE).take(2).filter_map(format);
    formats.max().filter(|format| *format > FORMAT)
}

/// Whether these are the bytes of a log that was created with this generation, or with the first of any log, and
/// never written to.
pub(super) fn is_unused(bytes: &[u8], first: Option<Generation>) -> bool {
    let log = bytes.get(12..24).and_then(|id| id.try_into().ok());
    let of_any = log.map(|id| Generation::new_in(ObjectId::from_bytes(id)));
    let Some(first) = first.or(of_any) else {
        return false;
    };
    Head::read(bytes, first).is_some_and(|head| bytes == new_log(&head))
}

/// The bytes of a new log. The head of the next generation is empty.
pub(super) fn new_log(head: &Head) -> Vec<u8> {
    let mut bytes = vec![0; head.least_len()];
    let place = head.place() as usize;
    bytes[place..place + PAGE].copy_from_slice(&head.page());
    bytes
}

/// The beginning of the checksums of one generation: the CRC-32 of the log's id, the number of the generation, and its
/// random number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Salt(pub(super) u32);

impl Salt {
    /// The checksum of some bytes.
    pub(super) fn checksum(self, bytes: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new_with_initial(self.0);
        hasher.update(bytes);
        hasher.finalize()
    }
}
