//! The redo log: a file beside that of the store, to which commits are appended.
//!
//! A commit of the engine that is durable writes each page that it changes, and syncs the file twice. Here, the
//! changes of a commit are appended to the log and synced, once for all that wait, and the engine gets them
//! without durability. At a *checkpoint* the engine makes all of them durable at once, and the log is *cut*: it is
//! written again from its start. After a crash the engine has the state of the last checkpoint, and the records of
//! the log are applied to it. They have whole values, so that it does no harm to apply one twice.
//!
//! # Generations
//!
//! Each checkpoint begins a *generation* of the log. In this order:
//!
//! 1. The head of the new generation is written and synced, beside that of the present one.
//! 2. The engine commits, durably, all changes and the name of the new generation. Before this moment a crash
//!    leaves the records of the present generation to be applied, and after it none.
//! 3. Records of the new generation are written over those of the last one.
//!
//! So the engine always names a generation whose head is in the log. Where it is not, the log is missing, older
//! than the store, or another's, and the store is not opened without it: its last commits would be lost.
//!
//! There is no log before the first record, and none after the store was closed: its one file is whole then, and
//! names the last generation as closed. A log is removed only if its store is known to have all of it: if the store
//! has closed the generation, or if the log was created and not used.

mod file;
mod record;

use std::{io, iter, sync::Arc};

use bson::oid::ObjectId;
use serde::{Deserialize, Serialize};

pub(super) use self::file::{Beside, LogFile};
use self::record::{Position, Record};
use super::{
    engine::{Backend, Engine, KeyChange},
    layout::META,
    overlay::Overlay,
};
use crate::error::{Error, ErrorKind, Result};

/// The name of the record of the log that must be there with the store, and of its generation.
pub(super) const RECORD: &[u8] = b"log";

/// The length that no log exceeds. It bounds the time of a recovery.
pub(super) const MAX_LEN: u64 = 16 << 20;

/// The part of its longest length that a log gives to one record. Longer changes are cheaper to write once, into
/// the engine.
const RECORD_PART: u64 = 4;

/// The number of changes after which the log is cut. It bounds the pages that the engine must write then.
const MAX_CHANGES: usize = 1 << 15;

/// By how much a log grows. It is filled with zeros, since a sync is fast where the length and the blocks of a file
/// stay.
const GROWTH: u64 = 1 << 20;

/// The length of a head. No two heads are in one sector of a disk.
const HEAD: usize = 4096;

/// Where the first record is: after the heads of two generations.
const RECORDS: u64 = 2 * HEAD as u64;

const MAGIC: [u8; 8] = *b"odm-log\0";

const FORMAT: u32 = 1;

/// A generation of a log, as the engine's file names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Generation {
    log: ObjectId,
    generation: i64,
    /// Whether the store was closed: it has all commits, and needs no log.
    closed: bool,
}

impl Generation {
    /// The first of a new log.
    fn new() -> Generation {
        Generation {
            log: ObjectId::new(),
            generation: 0,
            closed: false,
        }
    }

    fn next(&self) -> Generation {
        Generation {
            log: self.log,
            generation: self.generation + 1,
            closed: false,
        }
    }
}

/// A log, whose file may be missing.
pub(super) struct Log {
    place: Box<dyn LogFile>,
    max_len: u64,
    /// The generation that begins with the next file.
    first: Generation,
    open: Option<Open>,
}

/// A log that has a file.
struct Open {
    file: Arc<dyn Backend>,
    named: Generation,
    /// The number of the next record.
    number: u64,
    /// The position of the next record.
    end: u64,
    /// How far the file is filled.
    filled: u64,
    /// The number of changes since the last cut.
    changes: usize,
    /// Memory for the next record.
    buffer: Vec<u8>,
}

/// The commits that a store lost in a crash, and its log did not.
#[derive(Debug, Default)]
pub(super) struct Recovered {
    pub(super) changes: Overlay,
    pub(super) units: u64,
}

impl Log {
    /// The log of a store whose file is open and locked. `named` is the record of the generation in it.
    ///
    /// The recovered commits are not in the store: it must commit them at a checkpoint before anything else.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the log that the store names is missing or is not there, or if there is one that it does not
    /// name.
    pub(super) fn open(
        place: Box<dyn LogFile>,
        max_len: u64,
        store: &str,
        named: Option<&[u8]>,
    ) -> Result<(Log, Recovered)> {
        let name = place.name();
        let file = place.open().map_err(|error| cannot("open", &name, error))?;
        let named = named.map(bson::deserialize_from_slice::<Generation>);
        let first = match &named {
            Some(Ok(named)) => named.next(),
            _ => Generation::new(),
        };
        let mut log = Log {
            place,
            max_len,
            first,
            open: None,
        };
        let recovered = match (named, file) {
            (None | Some(Ok(Generation { closed: true, .. })), None) => Recovered::default(),
            (None, Some(file)) => {
                log.remove_unneeded(store, &*file, |bytes| is_unused(bytes, None))?;
                Recovered::default()
            }
            (Some(Ok(named @ Generation { closed: true, .. })), Some(file)) => {
                // Of the last time, or created for this time and not used.
                log.remove_unneeded(store, &*file, |bytes| {
                    has_head(bytes, &named) || is_unused(bytes, Some(&first))
                })?;
                Recovered::default()
            }
            (Some(Err(error)), _) => {
                let message = format!("`{store}` is damaged: it does not name its log");
                return Err(corrupt(message).with_source(error));
            }
            (Some(Ok(_)), None) => {
                return Err(corrupt(format!(
                    "`{store}` was not closed, and its log `{name}` is missing, which has its last commits: put \
                     both files back together"
                )));
            }
            (Some(Ok(named)), Some(file)) => {
                let bytes = read(&*file).map_err(|error| cannot("read", &name, error))?;
                if !has_head(&bytes, &named) {
                    return Err(corrupt(format!(
                        "`{store}` was not closed, and `{name}` is not the log with its last commits, but that of \
                         another store or of another time: put both files back together"
                    )));
                }
                let recovered = recover(&bytes, named.generation).ok_or_else(|| {
                    corrupt(format!("`{name}` is damaged: a record cannot be read"))
                })?;
                log.open = Some(Open::new(file, named, bytes.len() as u64));
                recovered
            }
        };
        Ok((log, recovered))
    }

    /// Appends the changes of some units, unless the log is full or has no file yet, or the changes are too many:
    /// then the result is `false`, and a checkpoint must be made with them.
    ///
    /// A crash may lose the record, or have it, until the file is synced.
    pub(super) fn append(&mut self, units: usize, changes: &Overlay) -> Result<bool> {
        let Some(open) = &mut self.open else {
            return Ok(false);
        };
        let appended = open.append(units, changes.iter(), self.max_len);
        appended.map_err(|error| self.cannot_write(error))
    }

    #[cold]
    fn cannot_write(&self, error: io::Error) -> Error {
        cannot("write to", &self.place.name(), error)
    }

    /// Makes all commits and these changes durable in the engine, and cuts the log.
    pub(super) fn checkpoint(&mut self, engine: &mut Engine, changes: &Overlay) -> Result<()> {
        let begun = match &mut self.open {
            Some(open) => open.begin_generation(),
            None => {
                let file = self.place.create(&new_heads(self.first));
                file.map(|file| {
                    let open = Open::new(file, self.first, RECORDS);
                    self.open.insert(open).named
                })
            }
        };
        let named = encode(&begun.map_err(|error| self.cannot_write(error))?)?;
        let named = iter::once((META, RECORD, Some(&*named)));
        engine.commit(named.chain(changes.iter()), true)?;
        if let Some(open) = &mut self.open {
            open.number = 0;
            open.end = RECORDS;
            open.changes = 0;
        }
        Ok(())
    }

    /// Makes the last checkpoint, after which the store needs no log, and removes the file, if there is one.
    pub(super) fn close(&mut self, engine: &mut Engine) -> Result<()> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let last = open.begin_generation();
        let closed = encode(&Generation {
            closed: true,
            ..last.map_err(|error| self.cannot_write(error))?
        })?;
        engine.commit_last(iter::once((META, RECORD, Some(&*closed))))?;
        // Frees the pages that the first has replaced: see there.
        engine.commit_last(iter::empty())?;
        // Before this is done, another process cannot open the store and make a log.
        self.remove()
    }

    /// Whether all commits are in the engine's file.
    pub(super) fn is_cut(&self) -> bool {
        self.open.as_ref().is_none_or(|open| open.number == 0)
    }

    /// The file, once there is one.
    pub(super) fn file(&self) -> Option<&Arc<dyn Backend>> {
        self.open.as_ref().map(|open| &open.file)
    }

    /// Removes a file that the store does not need, or refuses it.
    fn remove_unneeded(
        &mut self,
        store: &str,
        file: &dyn Backend,
        is_unneeded: impl FnOnce(&[u8]) -> bool,
    ) -> Result<()> {
        let name = self.place.name();
        let bytes = read(file).map_err(|error| cannot("read", &name, error))?;
        match is_unneeded(&bytes) {
            true => self.remove(),
            false => Err(corrupt(format!(
                "`{store}` was closed, and `{name}` is not its log: move that file away"
            ))),
        }
    }

    /// Removes the file, which the store does not need any more.
    fn remove(&mut self) -> Result<()> {
        self.open = None;
        let removed = self.place.remove();
        removed.map_err(|error| cannot("remove", &self.place.name(), error))
    }
}

impl Open {
    fn new(file: Arc<dyn Backend>, named: Generation, filled: u64) -> Open {
        Open {
            file,
            named,
            number: 0,
            end: RECORDS,
            filled,
            changes: 0,
            buffer: Vec::new(),
        }
    }

    fn append<'a>(
        &mut self,
        units: usize,
        changes: impl Iterator<Item = KeyChange<'a>>,
        max_len: u64,
    ) -> io::Result<bool> {
        let position = Position {
            generation: self.named.generation as u64,
            number: self.number,
        };
        let limit = max_len.saturating_sub(self.end).min(max_len / RECORD_PART);
        let mut count = 0;
        let changes = changes.inspect(|_| count += 1);
        if self.changes >= MAX_CHANGES
            || !record::encode(&mut self.buffer, position, units, changes, limit as usize)
        {
            return Ok(false);
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
        self.number += 1;
        self.changes += count;
        Ok(true)
    }

    fn begin_generation(&mut self) -> io::Result<Generation> {
        self.named = self.named.next();
        let place = head_place(&self.named) as u64;
        self.file.write(place, &head(self.named))?;
        self.file.sync_data()?;
        Ok(self.named)
    }
}

/// The heads of a new log. That of the next generation is empty.
fn new_heads(first: Generation) -> Vec<u8> {
    let mut heads = vec![0; RECORDS as usize];
    let place = head_place(&first);
    heads[place..place + HEAD].copy_from_slice(&head(first));
    heads
}

/// The head of a generation: the magic bytes, the format (4 bytes), the id of the log (12), the number of the
/// generation (8), the CRC-32 of all that (4), zeros. Numbers are big-endian.
fn head(named: Generation) -> Vec<u8> {
    let mut head = Vec::with_capacity(HEAD);
    head.extend_from_slice(&MAGIC);
    head.extend_from_slice(&FORMAT.to_be_bytes());
    head.extend_from_slice(&named.log.bytes());
    head.extend_from_slice(&named.generation.to_be_bytes());
    head.extend_from_slice(&crc32fast::hash(&head).to_be_bytes());
    head.resize(HEAD, 0);
    head
}

/// The position of the head of a generation.
fn head_place(named: &Generation) -> usize {
    named.generation as usize % 2 * HEAD
}

fn encode(named: &Generation) -> Result<Vec<u8>> {
    bson::serialize_to_vec(named).map_err(|error| {
        Error::new(ErrorKind::Encode, "cannot write the name of a log").with_source(error)
    })
}

/// Whether the head of a generation is in the bytes of a log.
fn has_head(bytes: &[u8], named: &Generation) -> bool {
    let place = head_place(named);
    bytes.get(place..place + HEAD) == Some(&head(*named))
}

/// Whether these are the bytes of a log that was created with this generation, or with the first of any log, and
/// never written to.
fn is_unused(bytes: &[u8], first: Option<&Generation>) -> bool {
    let log = bytes.get(12..24).and_then(|id| id.try_into().ok());
    let of_any = log.map(|id| Generation {
        log: ObjectId::from_bytes(id),
        ..Generation::new()
    });
    let first = first.copied().or(of_any);
    first.is_some_and(|first| bytes == new_heads(first))
}

fn first(generation: i64) -> Position {
    Position {
        generation: generation as u64,
        number: 0,
    }
}

/// The changes of all records of a generation, up to the first that is not whole: it and those after it were
/// written when the crash came, and nobody was told of them. `None` if a whole record cannot be read.
fn recover(bytes: &[u8], generation: i64) -> Option<Recovered> {
    let mut recovered = Recovered::default();
    let mut rest = bytes.get(RECORDS as usize..)?;
    let mut position = first(generation);
    while let Some(record) = Record::decode(rest, position) {
        for change in record.changes() {
            match change? {
                (tree, key, Some(value)) => recovered.changes.put(tree, key, value),
                (tree, key, None) => recovered.changes.remove(tree, key),
            }
        }
        recovered.changes.forget();
        recovered.units += u64::from(record.units);
        position.number += 1;
        rest = &rest[record.len..];
    }
    Some(recovered)
}

/// All bytes of a log.
fn read(file: &dyn Backend) -> io::Result<Vec<u8>> {
    // What stands behind was never written as a log.
    let len = file.len()?.min(MAX_LEN);
    let mut bytes = vec![0; len as usize];
    file.read(0, &mut bytes)?;
    Ok(bytes)
}

#[cold]
fn corrupt(message: String) -> Error {
    Error::new(ErrorKind::Corrupt, message)
}

#[cold]
fn cannot(what: &str, name: &str, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot {what} `{name}`: {error}")).with_source(error)
}
