//! The readable states of the engine, and reads of their entries.

use std::{
    collections::BTreeSet,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use odm_store::{Error, ErrorKind, Result};
use redb::{
    AccessGuard, ReadOnlyTable, ReadTransaction, ReadableTableMetadata, StorageError, TableError,
    TableHandle,
};

use super::{
    error::{failed, guard},
    retired::Retired,
    tables::{tree_of, with_definition},
    uncommitted::{CopiedRange, Uncommitted},
};
use crate::layout::{FORMAT, Tree};

type Table = ReadOnlyTable<&'static [u8], &'static [u8]>;
type Page = AccessGuard<'static, &'static [u8]>;
type Pages = redb::Range<'static, &'static [u8], &'static [u8]>;
type PageEntry = redb::Result<(Page, Page), StorageError>;

/// A state of the engine.
pub(in super::super) enum State {
    /// A committed one, as a read transaction sees it.
    Committed(Committed),
    /// The state that the changes of an open transaction have made so far.
    Uncommitted(Arc<Uncommitted>),
}

/// A read transaction.
pub(in super::super) struct Committed {
    transaction: ReadTransaction,
    /// The tables by the numbers of their trees. Each is opened when it is first read.
    tables: Box<[OnceLock<Option<Box<Table>>>]>,
    name: Arc<str>,
    /// The last field, so that it is dropped after the transaction.
    _retired: Arc<Retired>,
}

impl Committed {
    /// The table of a tree, or `None` if the tree has no entries.
    #[inline]
    fn table(&self, tree: Tree) -> Result<Option<&Table>> {
        let Some(cell) = self.tables.get(tree as usize) else {
            return Ok(None);
        };
        let table = match cell.get() {
            Some(table) => table,
            None => {
                let table = self.open(tree)?;
                cell.get_or_init(|| table.map(Box::new))
            }
        };
        Ok(table.as_deref())
    }

    #[cold]
    fn open(&self, tree: Tree) -> Result<Option<Table>> {
        guard(&self.name, || {
            let opened = with_definition(tree, |table| self.transaction.open_table(table));
            match opened {
                Ok(table) => Ok(Some(table)),
                Err(TableError::TableDoesNotExist(_)) => Ok(None),
                Err(error) => Err(failed(&self.name, error)),
            }
        })
    }
}

impl State {
    /// Must be called under [`guard`].
    pub(super) fn committed(
        transaction: ReadTransaction,
        name: Arc<str>,
        last_tree: Tree,
        retired: Arc<Retired>,
    ) -> State {
        let tables = (0..=last_tree).map(|_| OnceLock::new()).collect();
        State::Committed(Committed {
            transaction,
            tables,
            name,
            _retired: retired,
        })
    }

    /// The trees of a committed state that have entries.
    ///
    /// # Errors
    ///
    /// `Corrupt` if there is a table that does not belong to a tree.
    pub(in super::super) fn trees(&self) -> Result<BTreeSet<Tree>> {
        let State::Committed(Committed {
            transaction, name, ..
        }) = self
        else {
            return Ok(BTreeSet::new());
        };
        guard(name, || {
            let tables = transaction.list_tables();
            let tables = tables.map_err(|error| failed(name, error))?;
            tables
                .map(|table| tree_of(&table).ok_or_else(|| foreign(name, table.name())))
                .collect()
        })
    }

    /// The number of entries of a tree, if the state is committed.
    pub(in super::super) fn len(&self, tree: Tree) -> Result<Option<u64>> {
        let State::Committed(committed) = self else {
            return Ok(None);
        };
        let table = committed.table(tree)?;
        guard(&committed.name, || {
            let len = table.map_or(Ok(0), ReadableTableMetadata::len);
            len.map(Some)
                .map_err(|error| failed(&committed.name, error))
        })
    }

    /// The value of a key.
    #[inline]
    pub(in super::super) fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<Bytes>> {
        match self {
            State::Committed(committed) => {
                let Some(table) = committed.table(tree)? else {
                    return Ok(None);
                };
                let name = &committed.name;
                guard(name, || match table.get(key) {
                    Ok(Some(value)) => Ok(Some(Bytes::in_page(value))),
                    Ok(None) => Ok(None),
                    Err(error) => Err(failed(name, error)),
                })
            }
            State::Uncommitted(transaction) => Ok(transaction.get(tree, key)?.map(Bytes::Copied)),
        }
    }

    /// The entries from `lower`, included, to `upper`, excluded, in one direction. `lower` must not
    /// be greater than `upper`.
    pub(in super::super) fn range(
        &self,
        tree: Tree,
        lower: &[u8],
        upper: &[u8],
        backward: bool,
    ) -> Result<Range> {
        let entries = match self {
            State::Committed(committed) => match committed.table(tree)? {
                None => Entries::None,
                Some(table) => Entries::Pages(
                    guard(&committed.name, || {
                        let range = table.range(lower..upper);
                        range.map_err(|error| failed(&committed.name, error))
                    })?,
                    committed.name.clone(),
                ),
            },
            State::Uncommitted(transaction) => {
                Entries::Copied(CopiedRange::new(transaction.clone(), tree, lower, upper))
            }
        };
        Ok(Range { entries, backward })
    }
}

#[cold]
fn foreign(name: &str, table: &str) -> Error {
    let message = match table {
        "odm" => format!(
            "format 1 of `{name}` is not supported: this library reads format {FORMAT}; open it with the \
             version of the library that wrote it, and copy its documents into a new store"
        ),
        table => format!("`{name}` is not a store of this library: it has a table `{table}`"),
    };
    Error::new(ErrorKind::Corrupt, message)
}

/// A key or a value.
pub(in super::super) enum Bytes {
    /// In a page of the cache.
    Page(Page),
    Copied(Vec<u8>),
}

impl Bytes {
    /// Must be called under [`guard`]: the position of the bytes in their page is checked here,
    /// once, so that reading them later cannot panic.
    #[inline]
    fn in_page(page: Page) -> Bytes {
        let _ = page.value();
        Bytes::Page(page)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Page(page) => page.value(),
            Bytes::Copied(bytes) => bytes,
        }
    }
}

/// The entries of a range of keys, in one direction.
pub(in super::super) struct Range {
    entries: Entries,
    backward: bool,
}

#[expect(
    clippy::large_enum_variant,
    reason = "nearly all ranges are read in pages, and must not be allocated"
)]
enum Entries {
    None,
    Pages(Pages, Arc<str>),
    Copied(CopiedRange),
}

impl Iterator for Range {
    type Item = Result<(Bytes, Bytes)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.entries {
            Entries::None => None,
            Entries::Pages(pages, name) => match self.backward {
                false => in_pages(pages, name, Iterator::next),
                true => in_pages(pages, name, DoubleEndedIterator::next_back),
            },
            Entries::Copied(range) => {
                let entry = range.next(self.backward).transpose()?;
                Some(entry.map(|(key, value)| (Bytes::Copied(key), Bytes::Copied(value))))
            }
        }
    }
}

#[inline]
fn in_pages(
    pages: &mut Pages,
    name: &str,
    step: impl FnOnce(&mut Pages) -> Option<PageEntry>,
) -> Option<Result<(Bytes, Bytes)>> {
    guard(name, || match step(pages) {
        Some(Ok((key, value))) => Ok(Some((Bytes::in_page(key), Bytes::in_page(value)))),
        Some(Err(error)) => Err(failed(name, error)),
        None => Ok(None),
    })
    .transpose()
}
