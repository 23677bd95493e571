//! Writes of documents by the name of their collection.

use std::{
    future::IntoFuture,
    sync::{Arc, Mutex, PoisonError},
};

use bson::{RawBson, RawDocumentBuf};
use futures_core::future::BoxFuture;
use odm_mql::{Filter, Sort, Update, UpdatePipeline};
use odm_store::{Error, ErrorKind, Result, check_document, check_values, id_first, stamped};

use super::Collection;
use crate::{
    catalog::SequenceType,
    maintain::{
        Doc, ReturnDocument, ReturnedCheck, Write, WriteChange, WriteOutcome, WritePlan,
        WriteTarget,
    },
    model::ObjectId,
    repository::{PreparedWrite, WriteBuilder},
    session::Session,
};

/// An insert, from [`Collection::insert`]. Awaiting it returns the `_id`s of the documents.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, bson::{RawBson, rawdoc}};
///
/// let insert = Collections::of(&shop).collection("notes").insert([rawdoc! { "_id": 1 }]);
/// assert_eq!(insert.await?, [RawBson::Int32(1)]);
/// # Ok(()) });
/// ```
#[derive(Debug)]
#[must_use = "a write does nothing until it is awaited"]
pub struct InsertDocuments {
    collection: Collection,
    documents: Vec<RawDocumentBuf>,
}

impl InsertDocuments {
    pub(super) fn new(collection: &Collection, documents: Vec<RawDocumentBuf>) -> Self {
        InsertDocuments {
            collection: collection.clone(),
            documents,
        }
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](crate::repository#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::rawdoc, mql::Filter};
    ///
    /// let notes = Collections::of(&shop).collection("notes");
    /// let plan = notes.insert([rawdoc! { "_id": 1 }]).plan().await?;
    /// assert_eq!(plan.collections[0].inserted, 1);
    /// assert_eq!(notes.find(Filter::default()).count().await?, 0);
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }

    /// The write, and the `_id`s of the documents.
    fn into_parts(self) -> Result<(Session, Write, InsertedIds)> {
        let Collection { session, name } = &self.collection;
        self.collection.check_writable()?;
        let sequence = session.catalog().relations().sequence_of(name);
        let mut ids = Vec::with_capacity(self.documents.len());
        let documents = self.documents.into_iter().map(|document| {
            let document = sent(name, document)?;
            let id = match (document.get("_id").map_err(Error::malformed)?, sequence) {
                (Some(id), _) => RawBson::from(id),
                (None, None) => ObjectId::new().into(),
                (None, Some(_)) => {
                    ids.push(RawBson::Null);
                    return Ok(Doc::new(document));
                }
            };
            let with_id = id_first(&document, id.as_raw_bson_ref());
            ids.push(id);
            Ok(Doc::new(with_id.unwrap_or(document)))
        });
        let documents = documents.collect::<Result<_>>()?;
        let ids = InsertedIds(Arc::new(Mutex::new(ids)));
        let write = Write::Insert {
            documents,
            collection: name.clone(),
            numbered: sequence.map(SequenceType::id_of_number),
            check_returned: self
                .collection
                .check_inserted(sequence.map(|_| ids.clone())),
            rights: session.rights(),
        };
        Ok((session.clone(), write, ids))
    }

    pub(super) fn into_statement(self) -> Result<(Write, SharedDocuments)> {
        let (_, write, _) = self.into_parts()?;
        Ok((write, SharedDocuments::default()))
    }
}

impl WriteBuilder for InsertDocuments {
    type Returned = Vec<RawBson>;

    fn prepare(self) -> Result<PreparedWrite<Vec<RawBson>>> {
        let (session, write, ids) = self.into_parts()?;
        Ok(PreparedWrite::new(session, write, move |_| Ok(ids.take())))
    }
}

/// The change of the documents that match a filter.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{bson::{doc, rawdoc}, collections::DocumentUpdate, mql::Update};
///
/// let update = Update::parse(&doc! { "$set": { "qty": 1 } }, &[])?;
/// assert!(matches!(DocumentUpdate::from(update), DocumentUpdate::Update(_)));
/// assert!(matches!(DocumentUpdate::from(rawdoc! { "qty": 1 }), DocumentUpdate::Replace(_)));
/// # Ok(()) });
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum DocumentUpdate {
    /// Changes of fields by their paths.
    Update(Update),
    /// The fields of a whole document, which replace those of the first document that matches. Its `_id` stays. Derived fields of the new
    /// document count for nothing: they are computed.
    Replace(RawDocumentBuf),
    /// The stages of a pipeline, which compute the new document from the stored one, in which [pending](crate::Database::pending_backfills)
    /// fields may be missing. They can name and read no cold part.
    Pipeline(UpdatePipeline),
}

impl From<Update> for DocumentUpdate {
    fn from(update: Update) -> Self {
        DocumentUpdate::Update(update)
    }
}

impl From<UpdatePipeline> for DocumentUpdate {
    fn from(pipeline: UpdatePipeline) -> Self {
        DocumentUpdate::Pipeline(pipeline)
    }
}

impl From<RawDocumentBuf> for DocumentUpdate {
    fn from(document: RawDocumentBuf) -> Self {
        DocumentUpdate::Replace(document)
    }
}

/// An update, from [`Collection::update`].
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, bson::doc, mql::{Filter, Update}};
///
/// let parts = Collections::of(&shop).collection("parts");
/// let sold = Update::parse(&doc! { "$set": { "qty": 0_i64 } }, &[])?;
/// let many = Filter::parse(&doc! { "qty": { "$gt": 10 } })?;
/// assert_eq!(parts.update(many, sold).await?.modified, 2);
/// # Ok(()) });
/// ```
#[derive(Debug)]
#[must_use = "a write does nothing until it is awaited"]
pub struct UpdateDocuments {
    target: Matched,
    change: DocumentUpdate,
    upsert: bool,
}

impl UpdateDocuments {
    pub(super) fn new(collection: &Collection, filter: Filter, change: DocumentUpdate) -> Self {
        UpdateDocuments {
            target: Matched::new(collection, filter),
            change,
            upsert: false,
        }
    }

    /// Changes only the first document that matches, in the order of the [sort](UpdateDocuments::sort), or of `_id`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Filter, Update}};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let sold = Update::parse(&doc! { "$set": { "qty": 0_i64 } }, &[])?;
    /// assert_eq!(parts.update(Filter::default(), sold).first().await?.modified, 1);
    /// assert_eq!(shop.parts.get(1).await?.qty, 0);
    /// # Ok(()) });
    /// ```
    pub fn first(mut self) -> Self {
        self.target.is_first = true;
        self
    }

    /// The order that decides which document is the first. The others stay as they are.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Filter, Sort, Update}};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let sold = Update::parse(&doc! { "$set": { "qty": 0_i64 } }, &[])?;
    /// parts.update(Filter::default(), sold).sort(Sort::parse(&doc! { "qty": -1 })?).await?;
    /// assert_eq!(shop.parts.get(3).await?.qty, 0); // of which there were most
    /// # Ok(()) });
    /// ```
    pub fn sort(mut self, sort: Sort) -> Self {
        self.target.is_first = true;
        self.target.sort = sort;
        self
    }

    /// Inserts a document if none matches: of the values that the filter fixes by equality, and of the change. Without an `_id` it gets a
    /// new `ObjectId`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Filter, Update}};
    ///
    /// let visits = Collections::of(&shop).collection("visits");
    /// let page = Filter::parse(&doc! { "page": "/" })?;
    /// let visit = Update::parse(&doc! { "$inc": { "number": 1 } }, &[])?;
    /// let first = visits.update(page.clone(), visit.clone()).upsert().await?;
    /// assert!(first.inserted_id.is_some());
    /// let second = visits.update(page, visit).upsert().returning().await?;
    /// assert_eq!(second.documents[0].get_i32("number").unwrap(), 2);
    /// # Ok(()) });
    /// ```
    pub fn upsert(mut self) -> Self {
        self.upsert = true;
        self
    }

    /// Returns the documents as stored after the update.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Filter, Update}};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let sold = Update::parse(&doc! { "$set": { "qty": 0_i64 } }, &[])?;
    /// let written = parts.update(Filter::default(), sold).returning().await?;
    /// assert_eq!(written.documents[0].get_i64("qty").unwrap(), 0);
    /// # Ok(()) });
    /// ```
    pub fn returning(mut self) -> Self {
        self.target.returning = Some(false);
        self
    }

    /// Returns the documents as they were before the update.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Filter, Update}};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let sold = Update::parse(&doc! { "$set": { "qty": 0_i64 } }, &[])?;
    /// let written = parts.update(Filter::default(), sold).returning_before().await?;
    /// assert_eq!(written.documents[0].get_i64("qty").unwrap(), 90);
    /// # Ok(()) });
    /// ```
    pub fn returning_before(mut self) -> Self {
        self.target.returning = Some(true);
        self
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](crate::repository#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Filter, Update}};
    ///
    /// let parts = Collections::of(&shop).collection("parts");
    /// let sold = Update::parse(&doc! { "$set": { "qty": 0_i64 } }, &[])?;
    /// let plan = parts.update(Filter::default(), sold).plan().await?;
    /// assert_eq!((plan.matched, shop.parts.get(1).await?.qty), (3, 90));
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }
}

impl UpdateDocuments {
    pub(super) fn into_statement(self) -> Result<(Write, SharedDocuments)> {
        let mut target = self.target;
        let change = match self.change {
            DocumentUpdate::Update(update) => {
                update.check()?;
                WriteChange::Update(update)
            }
            DocumentUpdate::Pipeline(pipeline) => WriteChange::Pipeline(pipeline),
            DocumentUpdate::Replace(document) => {
                target.is_first = true;
                WriteChange::Replace(Doc::new(sent(&target.collection.name, document)?))
            }
        };
        let rights = target.collection.session.rights();
        target.into_statement(|collection, target, returning| Write::Update {
            collection,
            target,
            change,
            upsert: self.upsert,
            check_inserted: |_| Ok(()),
            is_typed: false,
            returning,
            rights,
        })
    }
}

impl WriteBuilder for UpdateDocuments {
    type Returned = WrittenDocuments;

    fn prepare(self) -> Result<PreparedWrite<WrittenDocuments>> {
        let session = self.target.collection.session.clone();
        Ok(prepared(session, self.into_statement()?))
    }
}

/// A delete, from [`Collection::delete`].
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, bson::doc, mql::Filter};
///
/// let bad = Filter::parse(&doc! { "stars": { "$lt": 5 } })?;
/// assert_eq!(Collections::of(&shop).collection("reviews").delete(bad).await?.modified, 2);
/// # Ok(()) });
/// ```
#[derive(Debug)]
#[must_use = "a write does nothing until it is awaited"]
pub struct DeleteDocuments {
    target: Matched,
}

impl DeleteDocuments {
    pub(super) fn new(collection: &Collection, filter: Filter) -> Self {
        DeleteDocuments {
            target: Matched::new(collection, filter),
        }
    }

    /// Removes only the first document that matches, in the order of the [sort](DeleteDocuments::sort), or of `_id`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// Collections::of(&shop).collection("reviews").delete(Filter::default()).first().await?;
    /// assert!(shop.reviews.get(1).await.unwrap_err().is_not_found());
    /// # Ok(()) });
    /// ```
    pub fn first(mut self) -> Self {
        self.target.is_first = true;
        self
    }

    /// The order that decides which document is the first. The others stay as they are.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::{Filter, Sort}};
    ///
    /// let reviews = Collections::of(&shop).collection("reviews");
    /// reviews.delete(Filter::default()).sort(Sort::parse(&doc! { "stars": 1 })?).await?;
    /// assert!(shop.reviews.get(2).await.unwrap_err().is_not_found()); // the worst
    /// # Ok(()) });
    /// ```
    pub fn sort(mut self, sort: Sort) -> Self {
        self.target.is_first = true;
        self.target.sort = sort;
        self
    }

    /// Returns the removed documents.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, mql::Filter};
    ///
    /// let reviews = Collections::of(&shop).collection("reviews");
    /// let removed = reviews.delete(Filter::default()).first().returning().await?;
    /// assert_eq!(removed.documents[0].get_str("text").unwrap(), "Solid");
    /// # Ok(()) });
    /// ```
    pub fn returning(mut self) -> Self {
        self.target.returning = Some(true);
        self
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](crate::repository#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, mql::Filter};
    ///
    /// let table = Filter::parse(&doc! { "_id": 3 })?;
    /// let plan = Collections::of(&shop).collection("products").delete(table).plan().await?;
    /// let removed: u64 = plan.collections.iter().map(|planned| planned.removed).sum();
    /// assert_eq!(removed, 2); // the table, and its manual
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }
}

impl DeleteDocuments {
    pub(super) fn into_statement(self) -> Result<(Write, SharedDocuments)> {
        let rights = self.target.collection.session.rights();
        let delete = |collection, target, returning| Write::Delete {
            collection,
            target,
            returning,
            rights,
        };
        self.target.into_statement(delete)
    }
}

impl WriteBuilder for DeleteDocuments {
    type Returned = WrittenDocuments;

    fn prepare(self) -> Result<PreparedWrite<WrittenDocuments>> {
        let session = self.target.collection.session.clone();
        Ok(prepared(session, self.into_statement()?))
    }
}

fn prepared(
    session: Session,
    (write, returned): (Write, SharedDocuments),
) -> PreparedWrite<WrittenDocuments> {
    PreparedWrite::new(session, write, move |outcome| Ok(returned.with(&outcome)))
}

/// The result of an update or a delete.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::{Collections, mql::Filter};
///
/// let written = Collections::of(&shop).collection("reviews").delete(Filter::default()).await?;
/// assert_eq!((written.matched, written.modified), (4, 4));
/// assert!(written.documents.is_empty()); // without `returning`
/// # Ok(()) });
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct WrittenDocuments {
    /// The number of documents that matched.
    pub matched: u64,
    /// The number of them that were changed or removed.
    pub modified: u64,
    /// The `_id` of the document that an upsert has inserted.
    pub inserted_id: Option<RawBson>,
    /// The documents, if the write returns them.
    pub documents: Vec<RawDocumentBuf>,
}

/// The documents that a write finds.
#[derive(Debug)]
struct Matched {
    collection: Collection,
    filter: Filter,
    is_first: bool,
    sort: Sort,
    /// Whether the returned documents are as before the write; `None` if none are returned.
    returning: Option<bool>,
}

impl Matched {
    fn new(collection: &Collection, filter: Filter) -> Self {
        Matched {
            collection: collection.clone(),
            filter,
            is_first: false,
            sort: Sort::default(),
            returning: None,
        }
    }

    fn into_statement(
        self,
        write: impl FnOnce(String, WriteTarget, Option<ReturnDocument>) -> Write,
    ) -> Result<(Write, SharedDocuments)> {
        self.collection.check_writable()?;
        let target = match self.is_first {
            true => WriteTarget::First {
                filter: self.filter,
                sort: self.sort,
            },
            false => WriteTarget::Matching(self.filter),
        };
        let returned = SharedDocuments::default();
        let returning = self.returning.map(|before| {
            let returned = returned.clone();
            let check = ReturnedCheck::new(move |documents: &[Doc]| {
                let documents = documents
                    .iter()
                    .map(|document| RawDocumentBuf::clone(document));
                returned.set(documents.collect());
                Ok(())
            });
            ReturnDocument { before, check }
        });
        Ok((write(self.collection.name, target, returning), returned))
    }
}

/// The documents that a write returns, as its unit has last left them.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedDocuments(Arc<Mutex<Vec<RawDocumentBuf>>>);

impl SharedDocuments {
    fn set(&self, documents: Vec<RawDocumentBuf>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = documents;
    }

    /// The result of the write.
    pub(super) fn with(&self, outcome: &WriteOutcome) -> WrittenDocuments {
        let mut documents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        WrittenDocuments {
            matched: outcome.matched,
            modified: outcome.modified,
            inserted_id: outcome.inserted_id.clone(),
            documents: std::mem::take(&mut *documents),
        }
    }
}

/// The `_id`s of inserted documents: null for those that a sequence gives, until the unit has stored them.
#[derive(Debug, Clone)]
struct InsertedIds(Arc<Mutex<Vec<RawBson>>>);

impl InsertedIds {
    /// Takes the `_id`s of the documents as they are stored, or of none if all are stored as they were sent.
    fn set(&self, stored: &[Doc]) -> Result<()> {
        let mut ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, document) in ids.iter_mut().zip(stored) {
            let stored = document.get("_id").map_err(Error::malformed)?;
            *id = stored.map_or(RawBson::Null, RawBson::from);
        }
        Ok(())
    }

    fn take(&self) -> Vec<RawBson> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Collection {
    /// The check that the models of the program can read inserted documents. It takes the `_id`s that a sequence gives.
    fn check_inserted(&self, ids: Option<InsertedIds>) -> ReturnedCheck {
        let checks = self.session.catalog().update_checks(&self.name, false);
        let collection = self.name.clone();
        ReturnedCheck::new(move |documents| {
            if let Some(ids) = &ids {
                ids.set(documents)?;
            }
            let checks = checks.iter().flat_map(|checks| checks.iter());
            for check in checks.filter(|check| !check.is_off) {
                for document in documents {
                    if let Some(why) = check.unreadable(document)? {
                        let id = document.get("_id").ok().flatten().map(RawBson::from);
                        let message = format!(
                            "document of `{collection}` cannot be read by its model: {why}"
                        );
                        return Err(Error::new(ErrorKind::Invalid, message)
                            .at(&collection, why.path(), id)
                            .with_source(why.source));
                    }
                }
            }
            Ok(())
        })
    }
}

/// Checks a document from a caller, which may be invalid, and gives it the time in the place of each empty timestamp.
fn sent(collection: &str, document: RawDocumentBuf) -> Result<RawDocumentBuf> {
    match document.get("_id") {
        Ok(None) => check_values(collection, &document)?,
        _ => check_document(collection, &document)?,
    }
    if matches!(document.get("_id"), Ok(Some(bson::RawBsonRef::Null))) {
        let message = format!("document of `{collection}` has the `_id` null: give it another");
        return Err(Error::new(ErrorKind::Encode, message));
    }
    Ok(stamped(&document).unwrap_or(document))
}

/// Implements `IntoFuture` for builders of writes.
macro_rules! impl_future {
    ($($builder:ty),+ $(,)?) => { $(
        impl IntoFuture for $builder {
            type Output = Result<<Self as WriteBuilder>::Returned>;
            type IntoFuture = BoxFuture<'static, Self::Output>;

            fn into_future(self) -> Self::IntoFuture {
                Box::pin(async move { self.prepare()?.run().await })
            }
        }
    )+ };
}

impl_future!(InsertDocuments, UpdateDocuments, DeleteDocuments);
