//! Writes of documents by the name of their collection.

mod insert;

use std::{
    future::IntoFuture,
    sync::{Arc, Mutex, PoisonError},
};

use bson::{RawBson, RawDocumentBuf};
use futures_core::future::BoxFuture;
use odm_mql::{Filter, Sort, Update, UpdatePipeline};
use odm_store::{Error, ErrorKind, Result, check_document, check_values, stamped};

pub use self::insert::InsertDocuments;
use super::Collection;
use crate::{
    maintain::{
        Doc, ReturnDocument, ReturnedCheck, Write, WriteChange, WriteOutcome, WritePlan,
        WriteTarget,
    },
    repository::{PreparedWrite, WriteBuilder},
    session::Session,
};

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
    /// The fields of a whole document, which replace the fields of the first document that matches. Its `_id` stays. Derived fields of the
    /// new document count for nothing: they are computed.
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
    bypasses_rule: bool,
}

impl UpdateDocuments {
    pub(super) fn new(collection: &Collection, filter: Filter, change: DocumentUpdate) -> Self {
        UpdateDocuments {
            target: Matched::new(collection, filter),
            change,
            upsert: false,
            bypasses_rule: false,
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

    /// Changes the documents even against the [validation rule](Collection::create_validated) of the collection, as MongoDB's option
    /// `bypassDocumentValidation` does. The declarations of models hold nevertheless: schemas, checks, references and derived fields.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::{doc, rawdoc}, collections::ValidationRule, mql::{Filter, Update}};
    ///
    /// let notes = Collections::of(&shop).collection("notes");
    /// notes.create_validated(ValidationRule::new(rawdoc! { "text": { "$type": "string" } }), None).await?;
    /// notes.insert([rawdoc! { "_id": 1, "text": "buy milk" }]).await?;
    /// let number = Update::parse(&doc! { "$set": { "text": 5 } }, &[])?;
    /// assert!(notes.update(Filter::default(), number.clone()).await.is_err());
    /// assert_eq!(notes.update(Filter::default(), number).bypass_document_validation().await?.modified, 1);
    /// # Ok(()) });
    /// ```
    pub fn bypass_document_validation(mut self) -> Self {
        self.bypasses_rule = true;
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
                WriteChange::Replace(Doc::new(sent(&target.collection, document)?))
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
            bypasses_rule: self.bypasses_rule,
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

/// Checks a document from a caller, which may be invalid, and gives it the time in the place of each empty timestamp.
///
/// The `_id` null is one as any other where no model declares the collection. Elsewhere a null reference, which references nothing, could
/// not reference its document.
fn sent(collection: &Collection, document: RawDocumentBuf) -> Result<RawDocumentBuf> {
    let Collection { session, name } = collection;
    match document.get("_id") {
        Ok(None) => check_values(name, &document)?,
        _ => check_document(name, &document)?,
    }
    if matches!(document.get("_id"), Ok(Some(bson::RawBsonRef::Null)))
        && session.catalog().is_declared(name)
    {
        let message = format!("document of `{name}` has the `_id` null: give it another");
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
