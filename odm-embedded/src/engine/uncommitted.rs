//! A transaction of the engine that stays open while a large unit of work runs in it.
//!
//! redb keeps the pages that it changes in its cache and writes them to free parts of the file when the cache is full, so that the changes
//! take bounded memory. No other page refers to these before the commit: after a crash the file has the state before the transaction.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use odm_store::{Error, ErrorKind, Result};
use redb::{ReadableTable, WriteTransaction};

use super::{
    KeyChange, check_writable,
    error::{failed, guard},
    shield::Shield,
    tables::{self, with_table},
};
use crate::layout::Tree;

/// How many entries the first portion of a range holds. Each further one holds twice as many.
const FIRST_PORTION: usize = 4;

/// How many entries a portion of a range holds at most.
const MAX_PORTION: usize = 256;

/// How many bytes a portion of a range may hold before it gets no further entry.
const MAX_PORTION_BYTES: usize = 256 << 10;

/// A key and its value.
type Entry = (Vec<u8>, Vec<u8>);

/// An open transaction.
pub(in super::super) struct Uncommitted {
    /// `None` once the transaction has ended. A table can be open only once in a transaction: the
    /// lock is held while it is.
    transaction: Mutex<Option<WriteTransaction>>,
    last_tree: AtomicU32,
    shield: Arc<Shield>,
    name: Arc<str>,
}

impl Uncommitted {
    pub(super) fn new(
        transaction: WriteTransaction,
        shield: Arc<Shield>,
        name: Arc<str>,
    ) -> Uncommitted {
        Uncommitted {
            transaction: Mutex::new(Some(transaction)),
            last_tree: AtomicU32::new(0),
            shield,
            name,
        }
    }

    /// Applies changes, which come in ascending order of their trees and keys, each key once. After an error the transaction may have a
    /// part of the changes, and must be aborted.
    pub(in super::super) fn write<'a>(
        &self,
        mut changes: impl Iterator<Item = KeyChange<'a>>,
    ) -> Result<()> {
        let last = self.with(|transaction| tables::write(transaction, &mut changes))?;
        self.last_tree.fetch_max(last, Ordering::Relaxed);
        // A transaction that can never be committed must not fill the memory of the shield with its pages.
        check_writable(&self.shield, &self.name)
    }

    /// The greatest number of a tree that it has written.
    pub(super) fn last_tree(&self) -> Tree {
        self.last_tree.load(Ordering::Relaxed)
    }

    /// The trees that have entries.
    pub(in super::super) fn trees(&self) -> Result<BTreeSet<Tree>> {
        self.with(|transaction| {
            let tables = transaction.list_tables()?;
            Ok(tables.filter_map(|table| tables::tree_of(&table)).collect())
        })
    }

    pub(super) fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.with(|transaction| {
            with_table(transaction, tree, |table| {
                let value = table.get(key)?;
                Ok(value.map(|value| value.value().to_vec()))
            })
        })
    }

    /// The first entries of a range, or the last ones backward.
    fn portion(
        &self,
        tree: Tree,
        (lower, upper): (&[u8], &[u8]),
        backward: bool,
        len: usize,
    ) -> Result<VecDeque<Entry>> {
        self.with(|transaction| {
            with_table(transaction, tree, |table| {
                let mut range = table.range(lower..upper)?;
                let mut portion = VecDeque::new();
                let mut bytes = 0;
                while portion.len() < len && bytes < MAX_PORTION_BYTES {
                    let entry = match backward {
                        false => range.next(),
                        true => range.next_back(),
                    };
                    let Some((key, value)) = entry.transpose()? else {
                        break;
                    };
                    let (key, value) = (key.value().to_vec(), value.value().to_vec());
                    bytes += key.len() + value.len();
                    portion.push_back((key, value));
                }
                Ok(portion)
            })
        })
    }

    fn with<T>(
        &self,
        call: impl FnOnce(&WriteTransaction) -> std::result::Result<T, redb::Error>,
    ) -> Result<T> {
        let open = self.lock();
        let transaction = open.as_ref().ok_or_else(ended)?;
        guard(&self.name, || {
            call(transaction).map_err(|error| failed(&self.name, error))
        })
    }

    /// Takes the transaction out, to commit or to abort it.
    pub(super) fn take(&self) -> Result<WriteTransaction> {
        self.lock().take().ok_or_else(ended)
    }

    fn lock(&self) -> MutexGuard<'_, Option<WriteTransaction>> {
        self.transaction
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cold]
fn ended() -> Error {
    Error::new(
        ErrorKind::OutsideTransaction,
        "the transaction has ended: nothing can be read or written through it",
    )
}

/// The entries of a range of an open transaction. They are copied in portions, since no entry can
/// be borrowed from a table beyond the call that opens it.
pub(super) struct CopiedRange {
    transaction: Arc<Uncommitted>,
    tree: Tree,
    /// The bounds of the entries that are not copied yet.
    lower: Vec<u8>,
    upper: Vec<u8>,
    portion: VecDeque<Entry>,
    /// How many entries the next portion holds.
    len: usize,
    /// Whether the portion has all remaining entries.
    exhausted: bool,
}

impl CopiedRange {
    pub(super) fn new(
        transaction: Arc<Uncommitted>,
        tree: Tree,
        lower: &[u8],
        upper: &[u8],
    ) -> CopiedRange {
        CopiedRange {
            transaction,
            tree,
            lower: lower.to_vec(),
            upper: upper.to_vec(),
            portion: VecDeque::new(),
            len: FIRST_PORTION,
            exhausted: false,
        }
    }

    /// The next entry in this direction, which must be the same in all calls.
    pub(super) fn next(&mut self, backward: bool) -> Result<Option<Entry>> {
        if self.portion.is_empty() && !self.exhausted {
            self.copy(backward)?;
        }
        Ok(self.portion.pop_front())
    }

    fn copy(&mut self, backward: bool) -> Result<()> {
        let bounds = (&*self.lower, &*self.upper);
        self.portion = self
            .transaction
            .portion(self.tree, bounds, backward, self.len)?;
        self.len = (self.len * 2).min(MAX_PORTION);
        match self.portion.back() {
            None => self.exhausted = true,
            Some((last, _)) if backward => self.upper.clone_from(last),
            Some((last, _)) => {
                self.lower.clone_from(last);
                // The least key after the last one.
                self.lower.push(0);
            }
        }
        // An empty range is no error here, but reversed bounds are an error in redb.
        self.exhausted |= self.lower >= self.upper;
        Ok(())
    }
}
