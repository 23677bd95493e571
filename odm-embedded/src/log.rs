//! The redo log: a file beside the store's file, to which commits are appended.
//!
//! A durable commit of the engine writes each page that it changes, and syncs the file twice. Here, the changes of a commit are appended to
//! the log and synced, once for all waiting commits, and stay in memory (see `memtable`). At a *checkpoint* the engine makes all of them
//! durable at once. After a crash the engine has the state of the last checkpoint, and the records of the log are applied to it, each once:
//! a long value is written as its difference from the one before, if that is short.
//!
//! # Generations
//!
//! Each checkpoint begins a *generation* of the log, in one of its two segments in turn. In this order:
//!
//! 1. All records of the present generation are synced.
//! 2. The head of the new generation is written and synced, beside the head of the present one. It says where that one ends.
//! 3. Records of the new generation are written, while a checkpoint writes the changes of the one before.
//! 4. The engine commits these, durably, with the name of the new generation. Before this moment a crash leaves the records of both
//!    generations to be applied, and after it those of the new one.
//! 5. Only then does the next generation begin, over the records of the one that is not needed any more.
//!
//! So the engine always names a generation whose head is in the log. If the head is not there, the log is missing, older than the store, or
//! another's, and the store is not opened without it: its last commits would be lost.
//!
//! There is no log before the first record, and none after the store was closed: its only file is complete then, and names the last
//! generation as closed. After a crash the changes of both generations go into memtables, and the next generation begins when a checkpoint has
//! made the first of two durable. A log is removed only
//! if its store is known to have all of it: if the store has closed the generation, or if the log was created and not used.
//!
//! # Damage
//!
//! A synced record that cannot be read is told from a record torn by a crash, and the store is not opened without it either: see
//! `contents`. A log is judged before the engine can write to its own file, so that both files of a refused store stay as they are. Only
//! damage of the store's own file can be found later: a value to which the difference of a record does not fit.

mod contents;
mod difference;
mod file;
mod format_1;
mod head;
mod mark;
mod open;
mod record;

use std::{io, iter, ops::Deref, path::PathBuf, sync::Arc, time::SystemTime};

use bson::{DateTime, RawDocument, rawdoc};

use self::{
    contents::Contents,
    head::{Generation, Head, Last, Segment},
    open::{OpenLog, write_head},
};
pub(super) use self::{
    file::{Beside, LogFile},
    mark::Appended,
};
use odm_store::{Error, ErrorKind, Result};

use super::{
    engine::{Backend, Engine},
    layout::{META, Tree},
    overlay::Overlay,
};

/// The name of the record that names the log of the store, and its generation.
pub(super) const RECORD: &[u8] = b"log";

/// The length that no log exceeds. It bounds the time of a recovery.
pub(super) const MAX_LEN: u64 = 16 << 20;

/// A log, whose file may be missing.
pub(super) struct Log {
    place: Box<dyn LogFile>,
    max_len: u64,
    /// The generation that begins with the next file.
    first: Generation,
    open: Option<OpenLog>,
}

/// The content of a log, as far as its store needs it. Nothing is changed yet, in either file.
#[derive(Default)]
pub(super) struct Recovery {
    /// How many commits are in the log and not in the store, because of a crash.
    pub(super) units: u64,
    /// The generation that the store has not closed.
    unclosed: Option<Generation>,
    /// The log that the store needs.
    needed: Option<NeededLog>,
    /// The file, if there is one.
    bytes: Option<Vec<u8>>,
    /// The reason why commits of the store are missing, and how many are known to be missing.
    pub(super) lost: Option<(Error, u64)>,
}

/// The changes that a crash has left in the log.
#[derive(Default)]
pub(super) struct Recovered {
    /// Those of the first of two generations, and the record that names the second one.
    pub(super) first: Option<(Overlay, Vec<u8>)>,
    /// Those of the last generation.
    pub(super) last: Overlay,
}

/// A log that has commits of its store.
struct NeededLog {
    file: Arc<dyn Backend>,
    /// The generation that the store names, and the one after it, if that has begun.
    generations: Vec<(Head, Contents)>,
}

impl NeededLog {
    /// Leaves out all that is behind damage, and returns how many units are known to be lost.
    fn leave_out_lost(&mut self) -> Option<u64> {
        let generations = &mut self.generations;
        let damaged = generations
            .iter()
            .position(|(_, found)| found.damage.is_some())?;
        let lost_in = |found: &Contents| found.damage.map_or(0, |damage| damage.units);
        let behind = generations.split_off(damaged + 1);
        let of_behind = behind.iter().map(|(_, found)| found.units + lost_in(found));
        let lost = lost_in(&generations[damaged].1) + of_behind.sum::<u64>();
        Some(lost)
    }
}

impl Recovery {
    /// Whether the store was not closed.
    pub(super) fn is_needed(&self) -> bool {
        self.unclosed.is_some()
    }
}

impl Log {
    /// The log of a store whose file is locked, and its content. `named` is the record of the generation in that file.
    ///
    /// # Errors
    ///
    /// `Corrupt` if it is uncertain whether the log belongs to the store, or whether the log is unused.
    pub(super) fn open(
        place: Box<dyn LogFile>,
        max_len: u64,
        store: &str,
        named: Option<&[u8]>,
    ) -> Result<(Log, Recovery)> {
        let named = named.map(odm_store::decode::<Generation>);
        let named = named.transpose().map_err(|error| {
            corrupt(format!("`{store}` is damaged: it does not name its log")).with_source(error)
        })?;
        let name = place.name();
        let file = place.open().map_err(|error| cannot("open", &name, error))?;
        let bytes = file.as_deref().map(read).transpose();
        let bytes = bytes.map_err(|error| cannot("read", &name, error))?;
        if let Some(format) = bytes.as_deref().and_then(head::later_format) {
            return Err(corrupt(format!(
                "format {format} of `{name}` is not supported: open the store with the version of this library that \
                 wrote it"
            )));
        }
        let log = Log {
            place,
            max_len,
            first: named.map_or_else(Generation::new, |named| named.next()),
            open: None,
        };
        let mut recovery = match named.filter(|named| !named.closed) {
            Some(unclosed) => log.judge(store, unclosed, file, bytes.as_deref())?,
            None => {
                let first = named.is_some().then_some(log.first);
                // Of the last generation, or created for the next one and not used.
                let is_unneeded = |bytes: &Vec<u8>| {
                    named.is_some_and(|named| Head::read(bytes, named).is_some())
                        || head::is_unused(bytes, first)
                };
                if !bytes.as_ref().is_none_or(is_unneeded) {
                    return Err(corrupt(format!(
                        "`{store}` was closed, and `{name}` is not its log: move that file away"
                    )));
                }
                Recovery::default()
            }
        };
        recovery.bytes = bytes;
        Ok((log, recovery))
    }

    /// The content of a log for a store that was not closed.
    fn judge(
        &self,
        store: &str,
        unclosed: Generation,
        file: Option<Arc<dyn Backend>>,
        bytes: Option<&[u8]>,
    ) -> Result<Recovery> {
        let name = self.place.name();
        let nothing = |message: String| Recovery {
            unclosed: Some(unclosed),
            lost: Some((corrupt(message), 0)),
            ..Recovery::default()
        };
        let (Some(file), Some(bytes)) = (file, bytes) else {
            return Ok(nothing(format!(
                "`{store}` was not closed, and its log `{name}` is missing, which has its last commits: put both \
                 files back together"
            )));
        };
        let Some(head) = Head::read(bytes, unclosed) else {
            return Ok(nothing(format!(
                "`{store}` was not closed, and `{name}` is not the log with its last commits, but that of another \
                 store or of another time, or its head is damaged: put both files back together"
            )));
        };
        let read = |head: &Head, whole| {
            contents::read(bytes, head, whole).ok_or_else(|| {
                corrupt(format!(
                    "`{name}` has a record that cannot be read: open the store with the version of this library that \
                     wrote it"
                ))
            })
        };
        // The generation that has begun after it, if the checkpoint between the two was not made.
        let later = Head::read(bytes, unclosed.next());
        let later = later.and_then(|later| Some((later, later.last()?)));
        let mut generations = vec![(head, read(&head, later.map(|(_, last)| last))?)];
        if let Some((later, _)) = later {
            generations.push((later, read(&later, None)?));
        }
        let mut needed = NeededLog { file, generations };
        let lost = needed.leave_out_lost();
        let generations = &needed.generations;
        let units = generations.iter().map(|(_, found)| found.units).sum();
        let damage = generations.iter().find_map(|(_, found)| found.damage);
        let lost = lost.zip(damage).map(|(lost, damage)| {
            let error = damaged(store, &name, units, (damage.at, lost));
            (error, lost)
        });
        Ok(Recovery {
            units,
            unclosed: Some(unclosed),
            needed: Some(needed),
            bytes: None,
            lost,
        })
    }

    /// Copies the file to a new one beside it, before the store discards a part of it. Returns the path of the copy.
    pub(super) fn keep(&self, recovery: &Recovery) -> Result<Option<PathBuf>> {
        let kept = recovery.bytes.as_ref();
        let kept = kept.map(|bytes| {
            let kept = self.place.keep(bytes);
            kept.map_err(|error| cannot("copy", &self.place.name(), error))
        });
        kept.transpose()
    }

    /// Returns the changes of the log, which go into the memtables. Nothing is written: the checkpoint of the first generation is to be made,
    /// if there are two, and the next generation must begin before a record is appended. Or makes the changes durable in the engine, and
    /// removes the file, which the store does not need any more.
    pub(super) fn recover(
        &mut self,
        engine: &mut Engine,
        mut recovery: Recovery,
    ) -> Result<Recovered> {
        let Some(needed) = recovery.needed.take() else {
            if recovery.bytes.is_some() {
                // A crash after this leaves a store that lacks its log, and not a closed store beside a log that is not its own.
                self.remove()?;
            }
            if let Some(unclosed) = recovery.unclosed {
                self.close_as(engine, unclosed.next(), &Overlay::default())?;
            }
            return Ok(Recovered::default());
        };
        let NeededLog { file, generations } = needed;
        let bytes = recovery.bytes.as_deref().unwrap_or_default();
        let Some(((head, found), earlier)) = generations.split_last() else {
            return Ok(Recovered::default());
        };
        let first = match earlier.first() {
            Some((head, found)) => Some((self.redo(engine, bytes, head, None)?, found)),
            None => None,
        };
        let before = first.as_ref().map(|(changes, _)| changes);
        let last = self.redo(engine, bytes, head, before)?;
        // The head of the next generation says that the records are synced. After a crash of the process alone, they may not be.
        file.sync_data().map_err(|error| self.cannot_write(error))?;
        let named = encode(&head.named);
        let first_has_growths = first.as_ref().is_none_or(|(_, found)| found.has_growths);
        if head.segment() == Segment::of(head.named, self.max_len)
            && first_has_growths
            && found.has_growths
            && (first.is_some() || !last.is_empty())
            && recovery.lost.is_none()
        {
            self.open = Some(OpenLog::read(file, *head, self.max_len, found));
            return Ok(Recovered {
                first: first.map(|(changes, _)| (changes, named)),
                last,
            });
        }
        if let Some((changes, _)) = first {
            let named = iter::once((META, RECORD, Some(&*named)));
            engine.commit(named.chain(changes.iter()), true)?;
        }
        let end = Last {
            units: found.units,
            end: found.end as u64,
        };
        let next = head.next(self.max_len, end);
        let written = write_head(&*file, &next);
        written.map_err(|error| self.cannot_write(error))?;
        self.close_as(engine, next.named, &last)?;
        self.remove()?;
        Ok(Recovered::default())
    }

    /// Makes the changes of a generation again, in memory: after those of the generation before, if that is not in the engine.
    fn redo(
        &self,
        engine: &Engine,
        bytes: &[u8],
        head: &Head,
        before: Option<&Overlay>,
    ) -> Result<Overlay> {
        let state = engine.newest()?;
        let value = |tree, key: &[u8]| match before.and_then(|before| before.get(tree, key)) {
            Some(changed) => Ok(changed.clone()),
            None => Ok(state.get(tree, key)?.map(|value| Arc::from(&*value))),
        };
        contents::redo(bytes, head, value)?.ok_or_else(|| {
            corrupt(format!(
                "the store is damaged: `{}` has a change that was made to another value than the store has; restore a backup, or move the log \
                 away and open the store without its last commits by `Embedded::builder().salvage(..)`",
                self.place.name()
            ))
        })
    }

    /// Makes changes durable in the engine, and this the last generation, which is closed.
    fn close_as(&mut self, engine: &mut Engine, last: Generation, changes: &Overlay) -> Result<()> {
        let closed = encode(&Generation {
            closed: true,
            ..last
        });
        let closed = iter::once((META, RECORD, Some(&*closed)));
        engine.commit(closed.chain(changes.iter()), true)?;
        self.first = last.next();
        Ok(())
    }

    /// Appends the changes of some units, unless the log has no file yet, or no room: then the result is `None`, and a checkpoint must be
    /// made with them. `before` returns the values of the newest state, to which the changes are made.
    ///
    /// A crash may lose or keep the record until the result is synced.
    pub(super) fn append<V: Deref<Target = [u8]>>(
        &mut self,
        units: usize,
        changes: &Overlay,
        before: impl Fn(Tree, &[u8]) -> Result<Option<V>>,
    ) -> Result<Option<Appended>> {
        let Some(open) = &mut self.open else {
            return Ok(None);
        };
        let Some(record) = open.encode(units, changes, before)? else {
            return Ok(None);
        };
        let appended = open.append(record);
        appended.map(Some).map_err(|error| self.cannot_write(error))
    }

    /// Whether there is a generation for further records, in this segment or in the next one.
    pub(super) fn is_begun(&self) -> bool {
        self.open.as_ref().is_some_and(OpenLog::is_begun)
    }

    #[cold]
    fn cannot_write(&self, error: io::Error) -> Error {
        cannot("write to", &self.place.name(), error)
    }

    /// Begins the next generation, and returns the record that names it. The checkpoint that commits this record must have all changes of
    /// the generations before, and the one before it must have ended.
    pub(super) fn begin_generation(&mut self) -> Result<Vec<u8>> {
        let begun = match &mut self.open {
            Some(open) => open.begin_generation(),
            None => {
                let head = Head::new(self.first, self.max_len, Last::default());
                let file = self.place.create(&head::new_log(&head));
                file.map(|file| {
                    self.open = Some(OpenLog::new(file, head, self.max_len));
                    self.first
                })
            }
        };
        let begun = begun.map_err(|error| self.cannot_write(error))?;
        Ok(encode(&begun))
    }

    /// Begins the last generation, which is closed, and returns the record that names it, or `None` if the log has no file. Once it is in
    /// the engine, with the changes of all generations, the store needs no log.
    pub(super) fn end_generation(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(open) = &mut self.open else {
            return Ok(None);
        };
        let last = open.begin_generation();
        let last = last.map_err(|error| self.cannot_write(error))?;
        let closed = Generation {
            closed: true,
            ..last
        };
        Ok(Some(encode(&closed)))
    }

    /// Verifies that the file has the head and all records, by its bytes and not by the memory.
    pub(super) fn verify(&self) -> Result<()> {
        let Some(open) = &self.open else {
            return Ok(());
        };
        let name = self.place.name();
        let bytes = read(&*open.file).map_err(|error| cannot("read", &name, error))?;
        let head = Head::read(&bytes, open.head.named);
        let head = head.filter(|head| head.salt() == open.head.salt());
        let found = head.and_then(|head| contents::read(&bytes, &head, None));
        match found {
            Some(found) if found.end as u64 == open.end && found.damage.is_none() => Ok(()),
            found => Err(corrupt(format!(
                "`{name}` is damaged at byte {}: the disk has changed what was written there; the store has it in its \
                 own file now, and has lost nothing",
                found.map_or(0, |found| found.end)
            ))),
        }
    }

    /// Removes the file, which the store does not need any more.
    pub(super) fn remove(&mut self) -> Result<()> {
        self.open = None;
        let removed = self.place.remove();
        removed.map_err(|error| cannot("remove", &self.place.name(), error))
    }
}

/// The record that names a generation, with the time: the commits until now are durable with it.
fn encode(named: &Generation) -> Vec<u8> {
    let named = rawdoc! {
        "log": named.log,
        "generation": named.generation,
        "closed": named.closed,
        "at": DateTime::now(),
    };
    named.into_bytes()
}

/// The time in a record that names a generation. A file of an older version of the library has none.
pub(super) fn time_of(named: &[u8]) -> Option<SystemTime> {
    let named = RawDocument::from_bytes(named).ok()?;
    named.get_datetime("at").ok().map(DateTime::to_system_time)
}

/// All bytes of a log.
fn read(file: &dyn Backend) -> io::Result<Vec<u8>> {
    // The bytes behind were never written as a log.
    let len = file.len()?.min(MAX_LEN);
    let mut bytes = vec![0; len as usize];
    file.read(0, &mut bytes)?;
    Ok(bytes)
}

#[cold]
fn damaged(store: &str, name: &str, units: u64, (at, lost): (usize, u64)) -> Error {
    corrupt(format!(
        "`{name}`, the log of `{store}`, is damaged at byte {at}: {units} of its units are before that, and at least {lost} there and \
         behind, which were synced; restore a backup, or open the store with what is before the damage by \
         `Embedded::builder().salvage(..)`"
    ))
}

#[cold]
fn corrupt(message: String) -> Error {
    Error::new(ErrorKind::Corrupt, message)
}

#[cold]
fn cannot(what: &str, name: &str, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot {what} `{name}`: {error}")).with_source(error)
}
