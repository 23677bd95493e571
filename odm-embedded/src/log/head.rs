//! The names of generations, and their heads in a log.

use bson::oid::ObjectId;
use serde::{Deserialize, Serialize};

use super::format_1;

/// The length of a page: two parts that are written separately are never in one sector of a disk.
pub(super) const PAGE: usize = 4096;

/// The format of a log that this library writes.
pub(super) const FORMAT: u32 = 2;

const MAGIC: [u8; 8] = *b"odm-log\0";

/// Where a head of format 2 has its random number.
const SEED: std::ops::Range<usize> = 32..40;

/// A generation of a log, as the engine's file names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Generation {
    pub(super) log: ObjectId,
    pub(super) generation: i64,
    /// Whether the store was closed: it has all commits, and needs no log.
    pub(super) closed: bool,
}

impl Generation {
    /// The first of a new log.
    pub(super) fn new() -> Generation {
        Generation {
            log: ObjectId::new(),
            generation: 0,
            closed: false,
        }
    }

    pub(super) fn next(&self) -> Generation {
        Generation {
            log: self.log,
            generation: self.generation.wrapping_add(1),
            closed: false,
        }
    }
}

/// The content of the head of a generation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) named: Generation,
    /// A random number, unique in the world, so that bytes of another log, or of another generation of this one, are not taken for records.
    /// Format 1 has no seed.
    seed: Option<u64>,
}

impl Head {
    pub(super) fn new(named: Generation) -> Head {
        Head {
            named,
            seed: Some(fastrand::u64(..)),
        }
    }

    /// The head of the next generation of the same log, in the same format.
    pub(super) fn next(&self) -> Head {
        let named = self.named.next();
        match self.seed {
            Some(_) => Head::new(named),
            None => Head { named, seed: None },
        }
    }

    /// The head of a generation in the bytes of a log, if it is there.
    pub(super) fn read(bytes: &[u8], named: Generation) -> Option<Head> {
        let place = place(named);
        let found = bytes.get(place..place + PAGE)?;
        let seed = u64::from_be_bytes(found[SEED].try_into().ok()?);
        let heads = [Some(seed), None].map(|seed| Head { named, seed });
        heads.into_iter().find(|head| head.page() == found)
    }

    /// Its position in the log.
    pub(super) fn place(&self) -> u64 {
        place(self.named) as u64
    }

    /// Where the first record of the generation is.
    pub(super) fn records(&self) -> usize {
        match self.seed {
            Some(_) => super::RECORDS as usize,
            None => format_1::RECORDS,
        }
    }

    /// The salt of the checksums of this generation, or `None` in format 1.
    pub(super) fn salt(&self) -> Option<Salt> {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.named.log.bytes());
        hasher.update(&self.named.generation.to_be_bytes());
        hasher.update(&self.seed?.to_be_bytes());
        Some(Salt(hasher.finalize()))
    }

    /// Its bytes: the magic bytes, the format (4 bytes), the id of the log (12), the number of the generation (8), the
    /// random number (8), the CRC-32 of all that (4), zeros. Numbers are big-endian.
    pub(super) fn page(&self) -> Vec<u8> {
        let format = self.seed.map_or(format_1::FORMAT, |_| FORMAT);
        let mut page = Vec::with_capacity(PAGE);
        page.extend_from_slice(&MAGIC);
        page.extend_from_slice(&format.to_be_bytes());
        page.extend_from_slice(&self.named.log.bytes());
        page.extend_from_slice(&self.named.generation.to_be_bytes());
        if let Some(seed) = self.seed {
            page.extend_from_slice(&seed.to_be_bytes());
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
    let of_any = log.map(|id| Generation {
        log: ObjectId::from_bytes(id),
        ..Generation::new()
    });
    let Some(first) = first.or(of_any) else {
        return false;
    };
    Head::read(bytes, first).is_some_and(|head| bytes == new_log(&head))
}

/// The bytes of a new log. The head of the next generation is empty.
pub(super) fn new_log(head: &Head) -> Vec<u8> {
    let mut bytes = vec![0; head.records()];
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
