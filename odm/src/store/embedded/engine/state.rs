//! The states of the engine that can be read, and how their entries are read.

use std::{ops::Deref, sync::Arc};

use redb::{AccessGuard, ReadOnlyTable, StorageError};

use super::{
    error::{failed, guard},
    uncommitted::{CopiedRange, Uncommitted},
};
use crate::error::Result;

type Table = ReadOnlyTable<&'static [u8], &'static [u8]>;
type Page = AccessGuard<'static, &'static [u8]>;
type Pages = redb::Range<'static, &'static [u8], &'static [u8]>;
type PageEntry = redb::Result<(Page, Page), StorageError>;

/// A state of the engine.
pub(in super::super) enum State {
    /// A committed one, as a read transaction sees it.
    Committed(Committed),
    /// The one that the changes of an open transaction have made so far.
    Uncommitted(Arc<Uncommitted>),
}

/// A table in a read transaction, which it keeps open.
pub(in super::super) struct Committed {
    table: Table,
    name: Arc<str>,
}

impl State {
    pub(super) fn committed(table: Table, name: Arc<str>) -> State {
        State::Committed(Committed { table, name })
    }

    /// The value of a key.
    #[inline]
    pub(in super::super) fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        match self {
            State::Committed(Committed { table, name }) => guard(name, || match table.get(key) {
                Ok(Some(value)) => Ok(Some(Bytes::in_page(value))),
                Ok(None) => Ok(None),
                Err(error) => Err(failed(name, error)),
            }),
            State::Uncommitted(transaction) => Ok(transaction.get(key)?.map(Bytes::Copied)),
        }
    }

    /// The entries from `lower`, included, to `upper`, excluded, in one direction. `lower` must not
    /// be greater than `upper`.
    pub(in super::super) fn range(
        &self,
        lower: &[u8],
        upper: &[u8],
        backward: bool,
    ) -> Result<Range> {
        let entries = match self {
            State::Committed(Committed { table, name }) => Entries::Pages(
                guard(name, || {
                    table
                        .range(lower..upper)
                        .map_err(|error| failed(name, error))
                })?,
                name.clone(),
            ),
            State::Uncommitted(transaction) => {
                Entries::Copied(CopiedRange::new(transaction.clone(), lower, upper))
            }
        };
        Ok(Range { entries, backward })
    }
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
    Pages(Pages, Arc<str>),
    Copied(CopiedRange),
}

impl Iterator for Range {
    type Item = Result<(Bytes, Bytes)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.entries {
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
