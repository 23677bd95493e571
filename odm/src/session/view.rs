//! The state of the data that an operation reads.

use std::{borrow::Cow, fmt, ops::Deref, sync::Arc};

use bson::RawDocument;
use odm_store::{Aggregate, Cost, Each, Error, ErrorKind, ReadAs, Reader, Result};

use super::{
    Session, bound::LockedTransaction, cold::ColdReader, guard::refuse_read_inside_transaction,
};
use crate::{catalog::Catalog, maintain};

/// One consistent state of the data, for all reads of an operation.
///
/// It is a [`Reader`] of documents in the form of the models: a query by fields of a cold part finds the documents, and requested cold
/// parts are loaded. If no document of the database is split, it is the reader of the store itself. [`as_read`](ReadView::as_read) defines
/// the values of fields; a position in a sorted result consists of stored values.
pub struct ReadView<'a> {
    reader: ViewReader<'a>,
    /// The catalog, if fields were pending when the database was opened.
    pending: Option<Arc<Catalog>>,
}

enum ViewReader<'a> {
    Plain(ReadSource<'a>),
    Split(ColdReader<'a>),
}

/// The source of a view: the committed state, or a transaction with its own writes.
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
        match &self.reader {
            ViewReader::Plain(source) => source.reader(),
            ViewReader::Split(reader) => reader,
        }
    }
}

impl fmt::Debug for ReadView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadView").finish_non_exhaustive()
    }
}

impl ReadView<'_> {
    /// A document of the view in the form of its model: with the empty values of pending fields.
    pub(crate) fn as_read<'d>(
        &self,
        collection: &str,
        document: &'d RawDocument,
    ) -> Result<Cow<'d, RawDocument>> {
        match &self.pending {
            None => Ok(Cow::Borrowed(document)),
            Some(catalog) => maintain::as_read(catalog, collection, document),
        }
    }

    /// Whether fields at a path, or around it or within it, are pending, so that they have to be read by
    /// [`as_read`](ReadView::as_read).
    pub(crate) fn has_pending(&self, collection: &str, path: &str) -> bool {
        let pending = self.pending.as_ref();
        pending.is_some_and(|catalog| maintain::is_read_as_pending(catalog, collection, path))
    }

    /// Groups documents in the form of [`as_read`](ReadView::as_read), and passes the rows of the groups.
    pub(crate) async fn aggregate(&self, aggregate: &Aggregate, each: Each<'_>) -> Result<Cost> {
        let collection = &aggregate.find.collection;
        let mut paths = aggregate.group.paths();
        if !paths.any(|path| self.has_pending(collection, path)) {
            return self.deref().aggregate(aggregate, each).await;
        }
        let read: ReadAs<'_> = &|document| self.as_read(collection, document);
        aggregate.run_by_find(self.deref(), read, each).await
    }

    /// Names the backfill in the error of a document that cannot be read since a field is pending.
    #[cold]
    pub(crate) fn explained(&self, error: Error) -> Error {
        let Some((catalog, location)) = self.pending.as_ref().zip(error.location()) else {
            return error;
        };
        let path = location.path.as_deref().unwrap_or_default();
        if error.kind() != ErrorKind::Decode
            || !catalog.is_pending_around(&location.collection, path)
        {
            return error;
        }
        let message = format!("{error}; `{path}` is pending: run `backfill()`, which computes it");
        let (collection, id) = (location.collection.clone(), location.id.clone());
        Error::new(ErrorKind::Decode, message)
            .at(&collection, Some(path), id)
            .with_source(error.clone())
    }
}

impl Session {
    /// Opens a view for one operation. The cold parts in the fields `load` of documents of
    /// `collection` are loaded with them.
    pub(crate) async fn reader(&self, collection: &str, load: &[&str]) -> Result<ReadView<'_>> {
        Ok(self.view(self.source().await?, collection, load))
    }

    /// Opens a view of the state that is committed now, to keep over several operations.
    pub(crate) fn committed_view(
        &self,
        collection: &str,
        load: &[&str],
    ) -> Result<ReadView<'static>> {
        Ok(self.view(self.committed()?, collection, load))
    }

    /// The documents as they are stored.
    pub(super) async fn source(&self) -> Result<ReadSource<'_>> {
        if let Some(snapshot) = &self.snapshot
            && let Some(reader) = snapshot.reader()?
        {
            refuse_read_inside_transaction(&*self.store)?;
            return Ok(ReadSource::Committed(reader));
        }
        match &self.bound {
            None => self.committed(),
            Some(bound) => Ok(ReadSource::Bound(bound.lock().await?)),
        }
    }

    /// The documents as they are committed now.
    fn committed(&self) -> Result<ReadSource<'static>> {
        self.keep_workers();
        refuse_read_inside_transaction(&*self.store)?;
        Ok(ReadSource::Committed(self.store.reader()?))
    }

    fn view<'a>(&self, source: ReadSource<'a>, collection: &str, load: &[&str]) -> ReadView<'a> {
        let reader = if self.has_cold_parts {
            ViewReader::Split(ColdReader::new(source, self.catalog(), collection, load))
        } else {
            ViewReader::Plain(source)
        };
        let pending = self.has_pending.then(|| self.catalog());
        let pending = pending.filter(|catalog| !catalog.pending().is_empty());
        ReadView { reader, pending }
    }
}
