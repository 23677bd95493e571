//! What is asked of a store, and what the answer cost.

use std::ops::{AddAssign, Sub};

use bson::RawBson;

use crate::mql::{Filter, Projection, Sort};

/// A query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Find {
    /// The collection. One that does not exist is empty.
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
/// in an array, as [`Test::Eq`](crate::mql::Test::Eq) matches.
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

/// What an operation touched.
///
/// A store that does not know a number, as a server without its `explain`, MUST report 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Requests to the store.
    pub queries: u64,
    /// Index entries read.
    pub keys_examined: u64,
    /// Documents read.
    pub documents_examined: u64,
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
        self.documents_returned += other.documents_returned;
        self.documents_written += other.documents_written;
    }
}

/// How a query ran.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Explain {
    /// The index that was used: its name, `_id`, or `None` for a scan of the collection.
    pub index: Option<String>,
    /// The bounds of each indexed field that were used, as text.
    pub bounds: Vec<String>,
    /// Whether the index gave the order, so that nothing was sorted in memory.
    pub sorted_by_index: bool,
    /// What it touched.
    pub cost: Cost,
}
