//! Queries to a store, and their cost.

use std::{
    borrow::Cow,
    ops::{AddAssign, ControlFlow, Sub},
};

use bson::{RawBson, RawDocument};
use odm_mql::{Filter, Group, Projection, Sort, group::Grouping};

use super::{Each, Reader};
use crate::error::{Error, ErrorKind, Result, show};

/// A query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Find {
    /// The collection. A collection that does not exist is empty.
    pub collection: String,
    /// The documents that match.
    pub filter: Filter,
    /// The order. A store MUST append `_id` as the last key if the sort lacks it, so that the order
    /// is total; an empty sort is the order of `_id`.
    pub sort: Sort,
    /// The number of documents to skip.
    pub skip: u64,
    /// The number of documents to return at most.
    pub limit: Option<u64>,
    /// The fields to return; all by default.
    pub projection: Option<Projection>,
    /// A position in the order: a value for each key of the total order, as [`Sort::key`] returns
    /// them. A store MUST return only documents that come after it, and
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery) for another number of values.
    pub after: Option<Vec<RawBson>>,
}

/// One query for each of several keys: the documents whose field `path` equals the key, or holds it
/// in an array, as [`Test::Eq`](odm_mql::Test::Eq) matches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FindByKey {
    /// The query that is run for each key. Its `limit` and `skip` count for each key. With an `after`
    /// it is an [`InvalidQuery`](crate::ErrorKind::InvalidQuery).
    pub find: Find,
    /// The field that is compared with the keys.
    pub path: String,
    /// The keys.
    pub keys: Vec<RawBson>,
}

/// A query of groups of documents.
///
/// [`Group`] describes the row of a group. The result has the rows that match `having`, in the order of `sort`, without the first `skip` of
/// them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Aggregate {
    /// The query of the documents that are grouped. Its `sort` matters only with a `skip`, a `limit` or a position;
    /// its projection has no meaning, and a store MAY ignore it.
    pub find: Find,
    /// The groups, and their aggregates.
    pub group: Group,
    /// The rows that match.
    pub having: Filter,
    /// The order of the rows. A store MUST append the keys, ascending, so that the order is total.
    pub sort: Sort,
    /// The number of rows to skip.
    pub skip: u64,
    /// The number of rows to return at most.
    pub limit: Option<u64>,
}

/// Makes the document to group from a stored document.
#[doc(hidden)]
pub type ReadAs<'r> =
    &'r (dyn for<'d> Fn(&'d RawDocument) -> Result<Cow<'d, RawDocument>> + Send + Sync);

/// Groups documents as they are stored.
#[doc(hidden)]
pub const STORED: ReadAs<'static> = &|document| Ok(Cow::Borrowed(document));

impl Aggregate {
    /// Passes a document to the groups.
    ///
    /// # Errors
    ///
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery), with the location of the document, if a key is the start of a unit and its value
    /// is not a date.
    pub fn add(&self, grouping: &mut Grouping<'_>, document: &RawDocument) -> Result<()> {
        grouping.add(document).map_err(|error| {
            let collection = &self.find.collection;
            let id = document.get("_id").ok().flatten();
            let id = id.map_or(RawBson::Null, RawBson::from);
            let message = format!(
                "aggregate failed: on the document of `{collection}` with `_id` = {}, {error}",
                show(&id)
            );
            Error::new(ErrorKind::InvalidQuery, message)
                .with_source(error)
                .at(collection, None, Some(id))
        })
    }

    /// Passes the rows of the groups, in order, with their positions. Returns how many.
    pub fn pass_rows(&self, grouping: Grouping<'_>, each: Each<'_>) -> Result<u64> {
        let mut rows = Vec::with_capacity(grouping.len());
        for row in grouping.into_rows() {
            let row = row?;
            if self.having.matches(&row)? {
                rows.push(row);
            }
        }
        if !self.sort.is_empty() {
            // The sort is stable, and the rows are in the order of their keys.
            rows.sort_by_cached_key(|row| self.sort.encode_key(row));
        }
        let number = |number| usize::try_from(number).unwrap_or(usize::MAX);
        let rows = rows.into_iter().skip(number(self.skip));
        let mut passed = 0;
        for row in rows.take(self.limit.map_or(usize::MAX, number)) {
            passed += 1;
            if each(passed - 1, &row)?.is_break() {
                break;
            }
        }
        Ok(passed as u64)
    }

    /// Runs the query by a [`find`](Reader::find) of the documents, which are passed through `read`.
    #[doc(hidden)]
    pub async fn run_by_find<R: Reader + ?Sized>(
        &self,
        reader: &R,
        read: ReadAs<'_>,
        each: Each<'_>,
    ) -> Result<Cost> {
        let mut find = self.find.clone();
        find.projection = None;
        let mut grouping = self.group.begin()?;
        let add: Each<'_> = &mut |_, document| {
            self.add(&mut grouping, &read(document)?)?;
            Ok(ControlFlow::Continue(()))
        };
        let mut cost = reader.find(&find, add).await?;
        cost.documents_returned = self.pass_rows(grouping, each)?;
        Ok(cost)
    }
}

/// The cost of an operation.
///
/// A store that does not know a number, as a server without its `explain`, MUST report 0.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let (found, cost) = odm::measure(async { shop.parts.find(Part::fields().name.eq("nut")).one().await }).await;
/// assert_eq!((found?.qty, cost.queries, cost.documents_examined), (5, 1, 1));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Requests to the store.
    pub queries: u64,
    /// Index entries read.
    pub keys_examined: u64,
    /// Documents read.
    pub documents_examined: u64,
    /// Documents that queries read without the bounds or the order of an index: in scans of a collection.
    pub documents_scanned: u64,
    /// Documents returned.
    pub documents_returned: u64,
    /// Documents inserted, changed or removed.
    pub documents_written: u64,
}

impl Sub for Cost {
    type Output = Cost;

    fn sub(self, earlier: Self) -> Self {
        Cost {
            queries: self.queries - earlier.queries,
            keys_examined: self.keys_examined - earlier.keys_examined,
            documents_examined: self.documents_examined - earlier.documents_examined,
            documents_scanned: self.documents_scanned - earlier.documents_scanned,
            documents_returned: self.documents_returned - earlier.documents_returned,
            documents_written: self.documents_written - earlier.documents_written,
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.queries += other.queries;
        self.keys_examined += other.keys_examined;
        self.documents_examined += other.documents_examined;
        self.documents_scanned += other.documents_scanned;
        self.documents_returned += other.documents_returned;
        self.documents_written += other.documents_written;
    }
}

/// How a query ran.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let explain = shop.parts.find(Part::fields().name.eq("nut")).explain().await?;
/// println!("{:?} {:?}", explain.index, explain.bounds);
/// assert_eq!(explain.cost.documents_scanned, 0);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Explain {
    /// The index that was used: its name, `_id`, or `None` for a scan of the collection.
    pub index: Option<String>,
    /// The bounds of each indexed field that were used, as text.
    pub bounds: Vec<String>,
    /// Whether the index gave the order, so that nothing was sorted in memory.
    pub sorted_by_index: bool,
    /// The cost of the query.
    pub cost: Cost,
}
