//! Queries.

mod join;

use std::{borrow::Cow, collections::BTreeMap, future::IntoFuture, marker::PhantomData};

use bson::{RawDocument, RawDocumentBuf};
use futures_core::future::BoxFuture;
use odm_mql::{self as mql, key, path};
use odm_store::{self as store, Cost, Error, ErrorKind, Explain, ReaderExt, Result};
use serde::de::DeserializeOwned;

use super::{
    Cursor, Joins, Page, impl_debug,
    page::{self, Search},
    query, rows,
    semi_join::{SemiJoin, Unresolved},
    stream,
};
use crate::{
    model::{Cold, Distinct, Document, Field, Is, Path, Projection, Returned, Shows, Structure},
    query::{Filter, Sort},
    session::Session,
    trace::Operation,
};

/// A query of the documents that match a filter. Awaiting it returns a `Vec`.
///
/// `T` is the type that a document is read as, `J` the joins: with joins, a row is a tuple.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let part = Part::fields();
/// let steel = shop.parts.find(part.tags.contains("steel"));
/// let number = steel.clone().count().await?;
/// let parts: Vec<Part> = steel.sort(part.qty.desc()).limit(1).await?;
/// assert_eq!((number, parts[0].name.as_str()), (2, "bolt"));
/// # Ok(()) });
/// ```
#[must_use = "a query does nothing until it is awaited"]
pub struct Query<M, J = (), T = M> {
    session: Session,
    search: Result<Search>,
    /// The fields whose cold parts are loaded.
    load: Vec<&'static str>,
    joins: J,
    types: PhantomData<fn() -> (M, T)>,
}

/// A query can be run more than once, as for a page and the number of all matches: each run sees the state of the data at its time, unless
/// both are in a [snapshot](crate::Database::snapshot).
impl<M, J: Clone, T> Clone for Query<M, J, T> {
    fn clone(&self) -> Self {
        Query {
            session: self.session.clone(),
            search: self.search.clone(),
            load: self.load.clone(),
            joins: self.joins.clone(),
            types: PhantomData,
        }
    }
}

impl<M: Document> Query<M> {
    pub(super) fn new(session: Session, filter: Filter<M>) -> Self {
        let find = filter.into_mql().map(query::<M>);
        Query {
            session,
            search: find.map(Search::new),
            load: Vec::new(),
            joins: (),
            types: PhantomData,
        }
    }

    pub(super) fn from_find(session: Session, find: store::Find) -> Self {
        Query {
            session,
            search: Ok(Search::new(find)),
            load: Vec::new(),
            joins: (),
            types: PhantomData,
        }
    }

    pub(super) fn into_parts(self) -> (Session, Result<Unresolved>) {
        (self.session, self.search.and_then(Search::into_find))
    }

    /// Reads only the fields of a projection of each document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// #[derive(serde::Deserialize, Projection)]
    /// #[projection(of = "Part")]
    /// struct Name {
    ///     name: String,
    /// }
    /// let names: Vec<Name> = shop.parts.all().select::<Name>().await?;
    /// assert_eq!(names[0].name, "bolt");
    /// # Ok(()) });
    /// ```
    pub fn select<P: Projection<Of: Shows<M>>>(self) -> Query<M, (), P> {
        let search = self.search.and_then(|mut search| {
            let names = <P as Structure>::shape().names();
            search.find.projection = Some(mql::Projection::include(names)?);
            Ok(search)
        });
        Query {
            session: self.session,
            search,
            load: Vec::new(),
            joins: (),
            types: PhantomData,
        }
    }

    /// Reads the documents as they are, without their type, for instance to correct an unreadable one. It has the same pages:
    /// [`next`](Page::next) of a page skips the documents that cannot be read.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let nut = shop.parts.find(Part::fields().name.eq("nut")).raw().one().await?;
    /// assert_eq!(nut.get_str("note").unwrap(), "M4");
    /// # Ok(()) });
    /// ```
    pub fn raw(self) -> Query<M, (), RawDocumentBuf> {
        Query {
            session: self.session,
            search: self.search,
            load: self.load,
            joins: (),
            types: PhantomData,
        }
    }
}

impl<M: Document, J, T> Query<M, J, T> {
    fn change(mut self, change: impl FnOnce(&mut store::Find)) -> Self {
        if let Ok(search) = &mut self.search {
            change(&mut search.find);
        }
        self
    }

    fn try_change(mut self, change: impl FnOnce(&mut store::Find) -> Result<()>) -> Self {
        self.search = self.search.and_then(|mut search| {
            change(&mut search.find)?;
            Ok(search)
        });
        self
    }

    fn place(mut self, place: impl FnOnce(&mut Search)) -> Self {
        if let Ok(search) = &mut self.search {
            place(search);
        }
        self
    }

    /// Adds a filter: a document must match all of them.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut parts = shop.parts.find(Part::fields().tags.contains("steel"));
    /// let only_scarce = true;
    /// if only_scarce {
    ///     parts = parts.filter(Part::fields().qty.lt(10));
    /// }
    /// assert_eq!(parts.one().await?.name, "nut");
    /// # Ok(()) });
    /// ```
    pub fn filter(mut self, filter: Filter<M>) -> Self {
        self.search = self.search.and_then(|mut search| {
            search.find.filter = search.find.filter.and(filter.into_mql()?);
            Ok(search)
        });
        self
    }

    pub(super) fn semi_join(mut self, semi_join: Result<SemiJoin>) -> Self {
        self.search = self.search.and_then(|mut search| {
            search.semi_joins.push(semi_join?);
            Ok(search)
        });
        self
    }

    /// Sets the sort order. A second call adds a tie-breaker.
    ///
    /// The default is the order of the `_id`s, which are also the last tie-breaker of every order.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let review = Review::fields();
    /// let reviews = shop.reviews.all().sort(review.stars.desc()).sort(review.published.desc()).await?;
    /// assert_eq!((reviews[0].text.as_str(), reviews[1].text.as_str()), ("Bright", "Solid"));
    /// # Ok(()) });
    /// ```
    pub fn sort(self, sort: Sort<M>) -> Self {
        self.try_change(|find| {
            let keys = sort.into_mql()?;
            find.sort = std::mem::take(&mut find.sort).then(&keys);
            Ok(())
        })
    }

    /// Skips this many documents.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let third = shop.parts.all().skip(2).await?;
    /// assert_eq!(third[0].name, "washer");
    /// # Ok(()) });
    /// ```
    pub fn skip(self, skip: u64) -> Self {
        self.change(|find| find.skip = skip)
    }

    /// Returns at most this many documents; with [`page`](Query::page), on each page.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let two = shop.parts.all().sort(Part::fields().qty.desc()).limit(2).await?;
    /// assert_eq!(two.len(), 2);
    /// # Ok(()) });
    /// ```
    pub fn limit(self, limit: u64) -> Self {
        self.change(|find| find.limit = Some(limit))
    }

    /// Lowers the limit.
    fn at_most(self, limit: u64) -> Self {
        self.change(|find| find.limit = Some(find.limit.map_or(limit, |own| own.min(limit))))
    }

    /// Continues after a position, which [`page`](Query::page) returned for the same filter and sort. It takes the
    /// place of another position.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let by_name = || shop.parts.all().sort(Part::fields().name.asc());
    /// let mut page = by_name().page(2).await?;
    /// let mut names: Vec<String> = page.items.into_iter().map(|part| part.name).collect();
    /// while let Some(next) = page.next {
    ///     page = by_name().after(&next).page(2).await?;
    ///     names.extend(page.items.into_iter().map(|part| part.name));
    /// }
    /// assert_eq!(names, ["bolt", "nut", "washer"]);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery`, when the query is awaited, if the position is in another query.
    pub fn after(self, cursor: &Cursor) -> Self {
        self.place(|search| search.start_after(cursor))
    }

    /// Reads the page that ends before a position, which [`page`](Query::page) returned as
    /// [`previous`](Page::previous) for the same filter and sort. Its rows are in the order of the query. It replaces another position.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let parts = || shop.parts.all();
    /// let first = parts().page(2).await?;
    /// let second = parts().after(&first.next.unwrap()).page(2).await?;
    /// let back = parts().before(&second.previous.unwrap()).page(2).await?;
    /// assert_eq!(back.items, first.items);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery`, when the query is awaited, as for [`after`](Query::after); if it is not awaited as a page; and if it has a start of
    /// its own, by [`skip`](Query::skip) or [after a subset](super::Repository::after_subset).
    pub fn before(self, cursor: &Cursor) -> Self {
        self.place(|search| search.end_before(cursor))
    }

    /// Counts the documents on all pages with each
    /// [`page`](Query::page), on the same state of the data. It costs as much as [`count`](Query::count).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let page = shop.parts.all().with_total().page(2).await?;
    /// assert_eq!(page.total, Some(3)); // "1 to 2 of 3"
    /// # Ok(()) });
    /// ```
    pub fn with_total(self) -> Self {
        self.place(Search::count_total)
    }

    /// Counts the documents that match, within `skip` and `limit`.
    ///
    /// On the embedded store the number of all documents is known, and a filter of equalities and ranges of fields of one
    /// index, or an `|` of such filters, is counted in the index alone, unless a value in it is an array. The documents of a partial index
    /// are counted likewise, if the query has the filter of the index.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(shop.parts.find(Part::fields().qty.lt(10)).count().await?, 1);
    /// # Ok(()) });
    /// ```
    pub async fn count(self) -> Result<u64> {
        let query = self.search?.into_find()?;
        let operation = Operation::begin("count", M::COLLECTION);
        let view = self.session.reader(M::COLLECTION, &[]).await?;
        let mut cost = Cost::default();
        let find = operation.observe(query.resolve(&view, &mut cost).await)?;
        let (count, counting) = operation.observe(view.count(&find).await)?;
        cost += counting;
        let session = &self.session;
        session.record_query(operation, &view, &find, cost).await?;
        Ok(count)
    }

    /// Returns whether any document matches.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let is_known = shop.parts.find(Part::fields().name.eq("bolt")).exists().await?;
    /// assert!(is_known);
    /// # Ok(()) });
    /// ```
    pub async fn exists(self) -> Result<bool> {
        Ok(self.at_most(1).count().await? > 0)
    }

    /// Returns the distinct values of a field, in their order. Documents without the field are
    /// ignored.
    ///
    /// Each element of a list is a value, as in MongoDB.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let tags: Vec<String> = shop.parts.all().distinct(Part::fields().tags).await?;
    /// assert_eq!(tags, ["new", "steel"]);
    /// # Ok(()) });
    /// ```
    #[expect(
        clippy::type_complexity,
        reason = "an alias would hide that it is a future"
    )]
    pub fn distinct<V, P, K, R>(
        self,
        _: Field<V, P, K>,
    ) -> BoxFuture<'static, Result<Vec<<V::Value as Returned<R>>::Value>>>
    where
        V: Distinct<Value: Returned<R>>,
        P: Path<Root: Is<M>>,
    {
        let Query {
            session, search, ..
        } = self;
        Box::pin(async move {
            let query = search?.into_find()?;
            // To list the values of a field in a cold part, the query reads this part.
            let operation = Operation::begin("distinct", M::COLLECTION);
            let part = P::COLD.then(|| path::split(P::TEXT).0);
            let view = session.reader(M::COLLECTION, part.as_slice()).await?;
            let mut cost = Cost::default();
            let mut find = operation.observe(query.resolve(&view, &mut cost).await)?;
            if !view.has_pending(M::COLLECTION, P::TEXT) {
                find.projection = Some(mql::Projection::include([P::TEXT])?);
            }
            let mut values = BTreeMap::new();
            let collect = |document: &RawDocument| {
                let document = match find.projection {
                    Some(_) => Cow::Borrowed(document),
                    None => view.as_read(M::COLLECTION, document)?,
                };
                path::each_value(&document, P::TEXT, &mut |value| {
                    values.entry(key::of(value)).or_insert_with(|| value.into());
                });
                Ok(())
            };
            let found = view.find_with(&find, collect).await;
            let (_, reading) = operation.observe(found)?;
            cost += reading;
            session.record_query(operation, &view, &find, cost).await?;
            values
                .into_values()
                .map(|value| rows::value::<V::Value, R>(M::COLLECTION, P::TEXT, value))
                .collect()
        })
    }

    /// Runs the query without its joins, and returns its access path and its cost. It does not describe the other side of a
    /// [semi-join](Query::any_referrer).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let by_name = shop.parts.find(Part::fields().name.eq("bolt")).explain().await?;
    /// assert!(by_name.index.is_some());
    /// assert_eq!(by_name.cost.documents_examined, 1);
    ///
    /// let by_price = shop.parts.find(Part::fields().price.gt(0.04)).explain().await?;
    /// assert_eq!((by_price.index, by_price.cost.documents_scanned), (None, 3)); // `price` has no index
    /// # Ok(()) });
    /// ```
    pub async fn explain(self) -> Result<Explain> {
        let query = self.search?.into_find()?;
        let operation = Operation::begin("explain", M::COLLECTION);
        let view = self.session.reader(M::COLLECTION, &[]).await?;
        let mut cost = Cost::default();
        let find = operation.observe(query.resolve(&view, &mut cost).await)?;
        let explain = operation.observe(view.explain(&find).await)?;
        cost += explain.cost;
        let session = &self.session;
        session.record_query(operation, &view, &find, cost).await?;
        Ok(explain)
    }
}

impl<M: Document, J: Joins<T>, T: DeserializeOwned + Send + 'static> Query<M, J, T> {
    /// Returns the first document, if there is one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let dearest = shop.parts.all().sort(Part::fields().price.desc()).first().await?;
    /// assert_eq!(dearest.unwrap().name, "bolt");
    /// # Ok(()) });
    /// ```
    pub async fn first(self) -> Result<Option<J::Row>> {
        let first = self.at_most(1);
        let query = first.search?.into_find()?;
        let rows = rows::find(&first.session, query, &first.load, &first.joins).await?;
        Ok(rows.into_iter().next())
    }

    /// Returns the only document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let nut = shop.parts.find(Part::fields().name.eq("nut")).one().await?;
    /// assert_eq!(nut.qty, 5);
    /// assert!(shop.parts.find(Part::fields().name.eq("rivet")).one().await.unwrap_err().is_not_found());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `NotFound` if no document matches, `NotUnique` if several do.
    pub async fn one(self) -> Result<J::Row> {
        let two = self.at_most(2);
        let query = two.search?.into_find()?;
        let filter = query.find.filter.clone();
        let mut rows = rows::find(&two.session, query, &two.load, &two.joins).await?;
        let filter = || filter.to_document();
        let error = match (rows.pop(), rows.is_empty()) {
            (Some(row), true) => return Ok(row),
            (None, _) => Error::new(
                ErrorKind::NotFound,
                format!("no document of `{}` matches {}", M::COLLECTION, filter()),
            ),
            (Some(_), false) => Error::new(
                ErrorKind::NotUnique,
                format!(
                    "several documents of `{}` match {}",
                    M::COLLECTION,
                    filter()
                ),
            ),
        };
        Err(error.at(M::COLLECTION, None, None))
    }

    /// Reads a page of at most `size` documents, with the positions of the next and the previous one. If an
    /// index gives the order, the work does not grow with the number of pages before it.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let by_name = || shop.parts.all().sort(Part::fields().name.asc());
    /// let first = by_name().with_total().page(2).await?;
    /// assert_eq!((first.items.len(), first.total), (2, Some(3)));
    /// let second = by_name().after(&first.next.unwrap()).page(2).await?;
    /// assert_eq!((second.items.len(), second.next), (1, None));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Decode` if a document of the page cannot be read, with its `_id` in the
    /// [location](crate::Error::location). The same page of the [`raw`](Query::raw) query has all of its
    /// documents, and the position of the next page.
    pub async fn page(self, size: u64) -> Result<Page<J::Row>> {
        page::page::<T, J>(self.session, self.search?, self.load, self.joins, size).await
    }
}

impl<M: Document, T: DeserializeOwned + Send + 'static> Query<M, (), T> {
    /// Streams the documents, without holding all of them if an index gives the order. It goes on after a
    /// document that cannot be read.
    ///
    /// It reads ahead in chunks, all from one state of the data. If the caller takes longer than a
    /// few seconds, it continues after the last document on a newer state; see
    /// [`snapshot`](super::DocumentStream::snapshot).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // All orders, however many there are, without holding them.
    /// let mut orders = shop.orders.all().stream();
    /// let mut quantity = 0;
    /// while let Some(order) = orders.try_next().await? {
    ///     quantity += order.lines.iter().map(|line| line.quantity).sum::<i64>();
    /// }
    /// assert_eq!(quantity, 7);
    /// # Ok(()) });
    /// ```
    pub fn stream(self) -> stream::DocumentStream<T> {
        let query = self.search.and_then(Search::into_find);
        stream::DocumentStream::new(self.session, query, self.load)
    }
}

impl<M: Document, J> Query<M, J> {
    /// Loads a cold part of each document, by one more query for all. A query by fields of a cold part always loads it.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let products = shop.products.all().with(Product::fields().manual).await?;
    /// assert_eq!(products[0].manual.get().unwrap().pages, 2);
    /// # Ok(()) });
    /// ```
    pub fn with<T, P: Path<Root: Is<M>>, K>(mut self, _: Field<Cold<T>, P, K>) -> Self {
        self.load.push(P::TEXT);
        self
    }
}

impl_debug!(Query<M, J, T>: search, load);

impl<M: Document, J: Joins<T>, T: DeserializeOwned + Send + 'static> IntoFuture for Query<M, J, T> {
    type Output = Result<Vec<J::Row>>;
    type IntoFuture = BoxFuture<'static, Result<Vec<J::Row>>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let query = self.search?.into_find()?;
            rows::find(&self.session, query, &self.load, &self.joins).await
        })
    }
}
