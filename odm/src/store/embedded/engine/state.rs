//! A committed state of the engine, and how its entries are read.

use std::{ops::Deref, sync::Arc};

use redb::{AccessGuard, ReadOnlyTable, StorageError};

use super::error::{failed, guard};
use crate::error::Result;

/// A committed state: a read transaction with its table.
pub(in super::super) struct Committed {
    table: ReadOnlyTable<&'static [u8], &'static [u8]>,
    name: Arc<str>,
}

impl Committed {
    pub(super) fn new(
        table: ReadOnlyTable<&'static [u8], &'static [u8]>,
        name: Arc<str>,
    ) -> Committed {
        Committed { table, name }
    }

    /// The value of a key.
    #[inline]
    pub(in super::super) fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        guard(&self.name, || match self.table.get(key) {
            Ok(Some(value)) => Ok(Some(Bytes::new(value))),
            Ok(None) => Ok(None),
            Err(error) => Err(failed(&self.name, error)),
        })
    }

    /// The entries from `lower`, included, to `upper`, excluded. `lower` must not be greater than
    /// `upper`.
    pub(in super::super) fn range(&self, lower: &[u8], upper: &[u8]) -> Result<Range> {
        let range = guard(&self.name, || {
            self.table
                .range(lower..upper)
                .map_err(|error| failed(&self.name, error))
        })?;
        Ok(Range {
            range,
            name: self.name.clone(),
        })
    }
}

/// A key or a value, in a page of the cache.
pub(in super::super) struct Bytes(AccessGuard<'static, &'static [u8]>);

impl Bytes {
    /// Must be called under [`guard`]: the position of the bytes in their page is checked here,
    /// once, so that reading them later cannot panic.
    #[inline]
    fn new(guard: AccessGuard<'static, &'static [u8]>) -> Bytes {
        let _ = guard.value();
        Bytes(guard)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.0.value()
    }
}

/// The entries of a range of keys, in order, from both ends.
pub(in super::super) struct Range {
    range: redb::Range<'static, &'static [u8], &'static [u8]>,
    name: Arc<str>,
}

type RawEntry = redb::Result<
    (
        AccessGuard<'static, &'static [u8]>,
        AccessGuard<'static, &'static [u8]>,
    ),
    StorageError,
>;

impl Range {
    #[inline]
    fn step(
        &mut self,
        step: impl FnOnce(&mut redb::Range<'static, &'static [u8], &'static [u8]>) -> Option<RawEntry>,
    ) -> Option<Result<(Bytes, Bytes)>> {
        let Range { range, name } = self;
        guard(name, || match step(range) {
            Some(Ok((key, value))) => Ok(Some((Bytes::new(key), Bytes::new(value)))),
            Some(Err(error)) => Err(failed(name, error)),
            None => Ok(None),
        })
        .transpose()
    }
}

impl Iterator for Range {
    type Item = Result<(Bytes, Bytes)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.step(Iterator::next)
    }
}

impl DoubleEndedIterator for Range {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(DoubleEndedIterator::next_back)
    }
}
