//! The state of the data that an operation reads.

use std::{ops::Deref, sync::Arc};

use super::{
    Session, bound::LockedTransaction, cold::ColdReader, guard::refuse_read_inside_transaction,
};
use crate::{error::Result, store::Reader};

/// One consistent state of the data, for all reads of an operation.
///
/// It is a [`Reader`] of documents as the models have them: a query by fields of a cold part finds
/// the documents, and cold parts that were asked for are loaded. Where no document of the database is
/// split, it is the reader of the store itself.
pub(crate) enum ReadView<'a> {
    Plain(ReadSource<'a>),
    Split(ColdReader<'a>),
}

/// What a view reads: the committed state, or a transaction with its own writes.
pub(crate) enum ReadSource<'a> {
    Committed(Arc<dyn Reader>),
    Bound(LockedTransaction<'a>),
}

impl<'a> ReadSource<'a> {
    pub(super) fn reader(&self) -> &(dyn Reader + 'a) {
        match self {
            ReadSource::Committed(reader) => &**reader,
            ReadSource::Bound(transaction) => transaction,
        }
    }
}

impl<'a> Deref for ReadView<'a> {
    type Target = dyn Reader + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            ReadView::Plain(source) => source.reader(),
            ReadView::Split(reader) => reader,
        }
    }
}

impl Session {
    /// Opens a view for one operation. The cold parts in the fields `load` of documents of
    /// `collection` are loaded with them.
    pub(crate) async fn reader(
        &self,
        collection: &str,
        load: &[&'static str],
    ) -> Result<ReadView<'_>> {
        Ok(self.view(self.source().await?, collection, load))
    }

    /// Opens a view of the state that is committed now, to keep over several operations.
    pub(crate) fn snapshot(
        &self,
        collection: &str,
        load: &[&'static str],
    ) -> Result<ReadView<'static>> {
        Ok(self.view(self.committed()?, collection, load))
    }

    /// The documents as they are stored.
    pub(super) async fn source(&self) -> Result<ReadSource<'_>> {
        match &self.bound {
            None => self.committed(),
            Some(bound) => Ok(ReadSource::Bound(bound.lock().await?)),
        }
    }

    /// The documents as they are committed now.
    fn committed(&self) -> Result<ReadSource<'static>> {
        refuse_read_inside_transaction(&*self.store)?;
        Ok(ReadSource::Committed(self.store.reader()?))
    }

    fn view<'a>(
        &self,
        source: ReadSource<'a>,
        collection: &str,
        load: &[&'static str],
    ) -> ReadView<'a> {
        if self.has_cold_parts {
            ReadView::Split(ColdReader::new(source, self.catalog(), collection, load))
        } else {
            ReadView::Plain(source)
        }
    }
}
