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
use crate::layout::{END, FORMAT, Tree};

type Table = ReadOnlyTable<&'static [u8], &'static [u8]>;
type Page = AccessGuard<'static, &'static [u8]>;
type Pages = redb::Range<'static, &'static [u8], &'static [u8]>;
type PageEntry = redb::Result<(Page, Page), StorageError>;

/// A state of the engine.
pub(in super::super) enum BaseState {
    /// A committed one, as a read transaction sees it.
    Committed(Committed),
    /// The state that the changes of an open transaction have made so far.
    Uncommitted(Arc<Uncommitted>),
}

/// The size of a tree, in bytes.
#[derive(Default)]
pub(in super::super) struct TreeSize {
    /// Its keys and values.
    pub(in super::super) entries: u64,
    /// The pages that hold them.
    pub(in super::super) pages: u64,
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

impl BaseState {
    /// Must be called under [`guard`].
    pub(super) fn committed(
        transaction: ReadTransaction,
        name: Arc<str>,
        last_tree: Tree,
        retired: Arc<Retired>,
    ) -> BaseState {
        let tables = (0..=last_tree).map(|_| OnceLock::new()).collect();
        BaseState::Committed(Committed {
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
        let BaseState::Committed(Committed {
            transaction, name, ..
        }) = self
        else {
            return Ok(BTreeSet::new());
        };
        trees_of(transaction, name)
    }

    /// The number of entries of a tree, if the state is committed.
    pub(in super::super) fn len(&self, tree: Tree) -> Result<Option<u64>> {
        let BaseState::Committed(committed) = self else {
            return Ok(None);
        };
        let table = committed.table(tree)?;
        guard(&committed.name, || {
            let len = table.map_or(Ok(0), ReadableTableMetadata::len);
            len.map(Some)
                .map_err(|error| failed(&committed.name, error))
        })
    }

    /// The size of a tree, if the state is committed. Reads all its pages.
    pub(in super::super) fn size(&self, tree: Tree) -> Result<TreeSize> {
        let BaseState::Committed(committed) = self else {
            return Ok(TreeSize::default());
        };
        let Some(table) = committed.table(tree)? else {
            return Ok(TreeSize::default());
        };
        guard(&committed.name, || {
            let stats = table.stats();
            let stats = stats.map_err(|error| failed(&committed.name, error))?;
            let entries = stats.stored_bytes();
            let others = stats
                .metadata_bytes()
                .saturating_add(stats.fragmented_bytes());
            Ok(TreeSize {
                entries,
                pages: entries.saturating_add(others),
            })
        })
    }

    /// The value of a key.
    #[inline]
    pub(in super::super) fn get(&self, tree: Tree, key: &[u8]) -> Result<Option<BaseBytes>> {
        match self {
            BaseState::Committed(committed) => {
                let Some(table) = committed.table(tree)? else {
                    return Ok(None);
                };
                let name = &committed.name;
                guard(name, || match table.get(key) {
                    Ok(Some(value)) => Ok(Some(BaseBytes::in_page(value))),
                    Ok(None) => Ok(None),
                    Err(error) => Err(failed(name, error)),
                })
            }
            BaseState::Uncommitted(transaction) => {
                Ok(transaction.get(tree, key)?.map(BaseBytes::Copied))
            }
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
    ) -> Result<BaseRange> {
        let entries = match self {
            BaseState::Committed(committed) => match committed.table(tree)? {
                None => RangeEntries::None,
                Some(table) => RangeEntries::Pages(
                    guard(&committed.name, || {
                        // A bound would be compared with each key.
                        let range = match upper == END {
                            true => table.range(lower..),
                            false => table.range(lower..upper),
                        };
                        range.map_err(|error| failed(&committed.name, error))
                    })?,
                    committed.name.clone(),
                ),
            },
            BaseState::Uncommitted(transaction) => {
                RangeEntries::Copied(CopiedRange::new(transaction.clone(), tree, lower, upper))
            }
        };
        Ok(BaseRange { entries, backward })
    }
}

/// The trees of a state that have entries.
pub(super) fn trees_of(transaction: &ReadTransaction, name: &str) -> Result<BTreeSet<Tree>> {
    guard(name, || {
        let tables = transaction.list_tables();
        let tables = tables.map_err(|error| failed(name, error))?;
        tables
            .map(|table| tree_of(&table).ok_or_else(|| foreign(name, table.name())))
            .collect()
    })
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
pub(in super::super) enum BaseBytes {
    /// In a page of the cache.
    Page(Page),
    Copied(Vec<u8>),
}

impl BaseBytes {
    /// Must be called under [`guard`]: the position of the bytes in their page is checked here,
    /// once, so that reading them later cannot panic.
    #[inline]
    fn in_page(page: Page) -> BaseBytes {
        let _ = page.value();
        BaseBytes::Page(page)
    }
}

impl Deref for BaseBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            BaseBytes::Page(page) => page.value(),
            BaseBytes::Copied(bytes) => bytes,
        }
    }
}

/// The entries of a range of keys, in one direction.
pub(in super::super) struct BaseRange {
    entries: RangeEntries,
    backward: bool,
}

/// A key and its value.
pub(in super::super) type BaseEntry = (BaseBytes, BaseBytes);

#[expect(
    clippy::large_enum_variant,
    reason = "nearly all ranges are read in pages, and must not be allocated"
)]
enum RangeEntries {
    None,
    Pages(Pages, Arc<str>),
    Copied(CopiedRange),
}

impl BaseRange {
    /// Reads the next entries, at most as many as `len`, into a list without entries. There are fewer at the end of the range, and before
    /// an error. An entry is large: it is made in its place in the list, and read there.
    pub(in super::super) fn read(&mut self, run: &mut Vec<BaseEntry>, len: usize) -> Result<()> {
        match &mut self.entries {
            RangeEntries::None => Ok(()),
            RangeEntries::Pages(pages, name) => guard(name, || match self.backward {
                false => in_pages(pages.take(len), name, run),
                true => in_pages(pages.rev().take(len), name, run),
            }),
            RangeEntries::Copied(range) => {
                while run.len() < len
                    && let Some((key, value)) = range.next(self.backward)?
                {
                    run.push((BaseBytes::Copied(key), BaseBytes::Copied(value)));
                }
                Ok(())
            }
        }
    }
}

#[inline]
fn in_pages(
    entries: impl Iterator<Item = PageEntry>,
    name: &str,
    run: &mut Vec<BaseEntry>,
) -> Result<()> {
    for entry in entries {
        let (key, value) = entry.map_err(|error| failed(name, error))?;
        run.push((BaseBytes::in_page(key), BaseBytes::in_page(value)));
    }
    Ok(())
}
