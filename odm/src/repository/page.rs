//! Pages by key: each starts after the last key of the one before it, or ends before the first key of the
//! one after it.

mod cursor;

use std::ops::ControlFlow;

use bson::RawDocument;
use serde::de::DeserializeOwned;

pub use cursor::Cursor;

use odm_store::{Cost, Error, ErrorKind, Find, Result};

use super::{
    Joins,
    rows::decode_in,
    semi_join::{SemiJoin, Unresolved},
};
use crate::{session::Session, trace::Operation};

/// A page of rows of a query.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let page = shop.parts.all().with_total().page(2).await?;
/// assert_eq!((page.items.len(), page.total), (2, Some(3)));
/// let last = shop.parts.all().after(&page.next.unwrap()).page(2).await?;
/// assert_eq!((last.items.len(), last.next), (1, None));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// The position at which the next page starts, for [`after`](super::Query::after). `None` at the end, and for a page without rows.
    pub next: Option<Cursor>,
    /// The position before which the previous page ends, for [`before`](super::Query::before). `None` at the start, and for a page without
    /// rows. A page requested by `after` has one, even if the documents before it are gone.
    pub previous: Option<Cursor>,
    /// The number of documents on all pages, if [`with_total`](super::Query::with_total) asked for it.
    pub total: Option<u64>,
}

/// The side of a position on which a page lies.
#[derive(Debug, Clone)]
enum Side {
    After(Cursor),
    Before(Cursor),
}

/// A query with the position that it starts after or ends before.
#[derive(Debug, Clone)]
pub(super) struct Search {
    pub(super) find: Find,
    pub(super) semi_joins: Vec<SemiJoin>,
    side: Option<Side>,
    with_total: bool,
}

impl Search {
    pub(super) fn new(find: Find) -> Self {
        Search {
            find,
            semi_joins: Vec::new(),
            side: None,
            with_total: false,
        }
    }

    pub(super) fn start_after(&mut self, cursor: &Cursor) {
        self.side = Some(Side::After(cursor.clone()));
    }

    pub(super) fn end_before(&mut self, cursor: &Cursor) {
        self.side = Some(Side::Before(cursor.clone()));
    }

    pub(super) fn count_total(&mut self) {
        self.with_total = true;
    }

    /// The query of all documents after the position.
    pub(super) fn into_find(self) -> Result<Unresolved> {
        let mut find = self.find;
        match &self.side {
            None => {}
            Some(Side::After(cursor)) => {
                find.after = Some(cursor.keys_in(&find, &self.semi_joins)?);
                // The documents to skip are before the first page.
                find.skip = 0;
            }
            Some(Side::Before(_)) => {
                return Err(Error::new(
                    ErrorKind::InvalidQuery,
                    "query with `before` is read as a page: await its `page`",
                ));
            }
        }
        let semi_joins = self.semi_joins;
        Ok(Unresolved { find, semi_joins })
    }

    /// The query that reads the page, and whether it does so backwards.
    fn into_page(self) -> Result<(Unresolved, bool)> {
        let Some(Side::Before(cursor)) = &self.side else {
            return Ok((self.into_find()?, false));
        };
        let mut find = self.find;
        let keys = cursor.keys_in(&find, &self.semi_joins)?;
        if find.skip > 0 || find.after.is_some() {
            return Err(Error::new(
                ErrorKind::InvalidQuery,
                "query with `before` has a start of its own, by `skip` or after a subset: pages backwards \
                 lead to the start of all documents that match",
            ));
        }
        find.sort = find.sort.total().reversed();
        find.after = Some(keys);
        let semi_joins = self.semi_joins;
        Ok((Unresolved { find, semi_joins }, true))
    }
}

pub(super) async fn page<T, J>(
    session: Session,
    search: Search,
    load: Vec<&'static str>,
    joins: J,
    size: u64,
) -> Result<Page<J::Row>>
where
    T: DeserializeOwned + Send,
    J: Joins<T>,
{
    if size == 0 {
        return Err(Error::new(
            ErrorKind::InvalidQuery,
            "page size is 0: ask for at least one document",
        ));
    }
    let query = cursor::hash(&search.find, &search.semi_joins);
    let mut all = Find {
        skip: 0,
        limit: None,
        projection: None,
        ..search.find.clone()
    };
    let (is_first, with_total) = (search.side.is_none(), search.with_total);
    let (unresolved, is_backward) = search.into_page()?;
    let order = all.sort.total();
    let collection = all.collection.clone();
    let operation = Operation::begin("page", &collection);
    let view = session.reader(&collection, &load).await?;
    let mut cost = Cost::default();
    let mut find = operation.observe(unresolved.resolve(&view, &mut cost).await)?;
    all.filter.clone_from(&find.filter);
    // A projection could leave out a sort key. Rows read only the fields that they name, so the whole documents do no harm.
    find.projection = None;
    // One additional document tells whether there is another page. The limit of the query bounds each page.
    let size = find.limit.map_or(size, |limit| limit.min(size));
    find.limit = Some(size.saturating_add(1));
    let mut rows = Vec::new();
    // The position of the row read first, which is the last row of a page that is read backwards.
    let mut near = None;
    // The position of the row read last, if the page is full.
    let mut far = None;
    let mut more = false;
    let found = view
        .find(&find, &mut |position, document: &RawDocument| {
            if position as u64 == size {
                more = true;
                return Ok(ControlFlow::Break(()));
            }
            if position == 0 && !is_first {
                near = Some(order.key(document));
            }
            if position as u64 + 1 == size {
                far = Some(order.key(document));
            }
            let row = decode_in(&view, &find.collection, document)?;
            rows.push((row, joins.keys(document)));
            Ok(ControlFlow::Continue(()))
        })
        .await;
    cost += operation.observe(found)?;
    if is_backward {
        rows.reverse();
    }
    let items = operation.observe(joins.run(&view, rows, &mut cost).await)?;
    let total = match with_total {
        false => None,
        true => {
            let (total, counting) = operation.observe(view.count(&all).await)?;
            cost += counting;
            Some(total)
        }
    };
    session.record_query(operation, &view, &find, cost).await?;
    let cursor = |keys| Cursor::new(query, keys);
    let (near, far) = (near.map(cursor), far.filter(|_| more).map(cursor));
    let (next, previous) = match is_backward {
        false => (far, near),
        true => (near, far),
    };
    Ok(Page {
        items,
        next,
        previous,
        total,
    })
}
