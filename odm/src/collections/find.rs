//! Reads of documents by the name of their collection.

use std::{fmt, future::IntoFuture};

use bson::{RawDocument, RawDocumentBuf};
use futures_core::future::BoxFuture;
use odm_mql::{Filter, Projection, Sort};
use odm_store::{Explain, Find, ReaderExt, Result};

use super::Collection;
use crate::{
    repository::DocumentStream,
    session::{ReadView, Session},
    trace::Operation,
};

/// A search of documents, from [`Collection::find`]. Awaiting it returns the documents.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, bson::doc, mql::Filter};
///
/// let good = Filter::parse(&doc! { "stars": { "$gte": 4 } })?;
/// assert_eq!(Collections::of(&shop).collection("reviews").find(good).await?.len(), 3);
/// # Ok(()) });
/// ```
#[derive(Debug, Clone)]
#[must_use = "a query does nothing until it is awaited"]
pub struct FindDocuments {
    session: Session,
    find: Find,
}

impl FindDocuments {
    pub(super) fn new(collection: &Collection, filter: Filter) -> Self {
        FindDocuments {
            session: collection.session.clone(),
            find: Find {
                collection: collection.name.clone(),
                filter,
                ..Find::default()
            },
        }
    }

    /// Sets the order. Documents that it does not tell apart are in the order of their `_id`s.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Filter, Sort}};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let found = parts.find(Filter::default()).sort(Sort::parse(&doc! { "qty": 1 })?).await?;
    /// assert_eq!(found[0].get_str("name").unwrap(), "nut");
    /// # Ok(()) });
    /// ```
    pub fn sort(mut self, sort: Sort) -> Self {
        self.find.sort = sort;
        self
    }

    /// Skips the first documents.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let found = parts.find(Filter::default()).skip(2).await?;
    /// assert_eq!(found[0].get_str("name").unwrap(), "washer");
    /// # Ok(()) });
    /// ```
    pub fn skip(mut self, documents: u64) -> Self {
        self.find.skip = documents;
        self
    }

    /// Sets the number of documents to return at most.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// assert_eq!(parts.find(Filter::default()).limit(2).await?.len(), 2);
    /// # Ok(()) });
    /// ```
    pub fn limit(mut self, documents: u64) -> Self {
        self.find.limit = Some(documents);
        self
    }

    /// Sets the fields to return.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::{doc, rawdoc}, mql::{Filter, Projection}};
    ///
    /// let names = Projection::parse(&doc! { "name": 1 })?;
    /// let found = Collections::of(&shop).collection("parts").find(Filter::default()).project(names).await?;
    /// assert_eq!(found[0], rawdoc! { "_id": 1_i64, "name": "bolt" });
    /// # Ok(()) });
    /// ```
    pub fn project(mut self, projection: Projection) -> Self {
        self.find.projection = Some(projection);
        self
    }

    /// Returns the first document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::Filter};
    ///
    /// let screw = Filter::parse(&doc! { "name": "screw" })?;
    /// assert_eq!(Collections::of(&shop).collection("parts").find(screw).one().await?, None);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the query.
    pub async fn one(mut self) -> Result<Option<RawDocumentBuf>> {
        self.find.limit = Some(1);
        Ok(self.await?.pop())
    }

    /// Returns the number of documents that match, within the [skipped](FindDocuments::skip) and the [limit](FindDocuments::limit).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::Filter};
    ///
    /// let steel = Filter::parse(&doc! { "tags": "steel" })?;
    /// assert_eq!(Collections::of(&shop).collection("parts").find(steel).count().await?, 2);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the query.
    pub async fn count(self) -> Result<u64> {
        let operation = Operation::begin("count", &self.find.collection);
        let view = self.view().await?;
        let (number, cost) = operation.observe(view.count(&self.find).await)?;
        let session = &self.session;
        session
            .record_query(operation, &view, &self.find, cost)
            .await?;
        Ok(number)
    }

    /// Runs the query, and returns how it ran.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::Filter};
    ///
    /// let nut = Filter::parse(&doc! { "name": "nut" })?;
    /// let explain = Collections::of(&shop).collection("parts").find(nut).explain().await?;
    /// assert_eq!(explain.index.as_deref(), Some("name_1"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the query.
    pub async fn explain(self) -> Result<Explain> {
        self.view().await?.explain(&self.find).await
    }

    /// Reads the documents one after another, in portions: for results that are too large to be held. They are of one state of the data
    /// for ten seconds, and go on with a newer one, after the last document, if reading takes longer.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let mut parts = Collections::of(&shop).collection("parts").find(Filter::default()).cursor();
    /// while let Some(part) = parts.try_next().await? {
    ///     println!("{}", part.get_str("name").unwrap());
    /// }
    /// # Ok(()) });
    /// ```
    pub fn cursor(mut self) -> DocumentCursor {
        let projection = self.find.projection.take();
        DocumentCursor {
            session: self.session.clone(),
            is_begun: false,
            collection: self.find.collection.clone(),
            filter: self.find.filter.clone(),
            documents: DocumentStream::of_find(self.session, self.find),
            projection,
        }
    }

    async fn view(&self) -> Result<ReadView<'_>> {
        self.session.follow_catalog().await?;
        self.session.catalog().refuse_view(&self.find.collection)?;
        self.session.reader(&self.find.collection, &[]).await
    }
}

impl IntoFuture for FindDocuments {
    type Output = Result<Vec<RawDocumentBuf>>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            let collection = self.find.collection.clone();
            let operation = Operation::begin("find", &collection);
            self.session.follow_catalog().await?;
            self.session.catalog().refuse_view(&collection)?;
            let view = self.session.reader(&collection, &[]).await?;
            // A projection could leave out a pending field, which is empty in the document before.
            let projection = self
                .find
                .projection
                .take_if(|_| view.has_pending(&collection, ""));
            let filter = &self.find.filter;
            let read = |document: &RawDocument| {
                let document = view.as_read(&collection, document)?;
                match &projection {
                    None => Ok(document.into_owned()),
                    Some(projection) => Ok(projection.apply_matched(filter, &document)?),
                }
            };
            let (documents, cost) = operation.observe(view.find_with(&self.find, read).await)?;
            let session = &self.session;
            session
                .record_query(operation, &view, &self.find, cost)
                .await?;
            Ok(documents)
        })
    }
}

/// Documents that are read one after another, from [`FindDocuments::cursor`].
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, mql::Filter};
///
/// let mut reviews = Collections::of(&shop).collection("reviews").find(Filter::default()).cursor();
/// let mut stars = 0;
/// while let Some(review) = reviews.try_next().await? {
///     stars += review.get_i32("stars").unwrap();
/// }
/// assert_eq!(stars, 17);
/// # Ok(()) });
/// ```
#[must_use = "a cursor does nothing unless it is read"]
pub struct DocumentCursor {
    session: Session,
    is_begun: bool,
    collection: String,
    documents: DocumentStream<RawDocumentBuf>,
    filter: Filter,
    projection: Option<Projection>,
}

impl DocumentCursor {
    /// Waits for the next document. `None` at the end.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let mut parts = Collections::of(&shop).collection("parts").find(Filter::default()).limit(1).cursor();
    /// assert_eq!(parts.try_next().await?.unwrap().get_str("name").unwrap(), "bolt");
    /// assert!(parts.try_next().await?.is_none());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the query. Nothing follows an error.
    pub async fn try_next(&mut self) -> Result<Option<RawDocumentBuf>> {
        if !self.is_begun {
            self.session.follow_catalog().await?;
            self.session.catalog().refuse_view(&self.collection)?;
            self.is_begun = true;
        }
        let Some(document) = self.documents.try_next().await? else {
            return Ok(None);
        };
        Ok(Some(match &self.projection {
            None => document,
            Some(projection) => projection.apply_matched(&self.filter, &document)?,
        }))
    }

    /// Lets go of the state of the data, for a cursor that is not read for some time. It goes on with a newer state.
    #[doc(hidden)]
    pub fn release(&mut self) {
        self.documents.release();
    }
}

impl fmt::Debug for DocumentCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocumentCursor").finish_non_exhaustive()
    }
}
