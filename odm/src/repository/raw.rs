//! The documents of a repository as they are stored.

use std::{
    marker::PhantomData,
    sync::{Arc, Mutex, PoisonError},
};

use bson::RawDocumentBuf;
use odm_store::{Result, check_document};

use super::{
    Get, PreparedWrite, Query, Repository, WriteBuilder, impl_debug,
    prepared::impl_write_future,
    rows::{decode, refuse_null_id, stamped},
};
use crate::{
    maintain::{Doc, ReturnedCheck, Write, WritePlan},
    model::{Document, IntoId},
    query::Filter,
    session::Session,
};

/// The documents of a collection as BSON, from [`Repository::raw`]: for tools that know no model, and for documents with
/// fields that the model does not name.
///
/// Writes conform to the model and have all effects, as the typed writes do; reads return documents as they are stored. For updates and
/// deletes use the repository, with [`Update::raw`](crate::Update::raw) and [`Filter::raw`].
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let parts = shop.parts.raw();
/// let steel = parts.find(Part::fields().tags.contains("steel")).await?;
/// assert_eq!(steel[0].get_i64("qty").unwrap(), 90);
/// # Ok(()) });
/// ```
pub struct RawRepository<M> {
    documents: Repository<M>,
}

impl<M> RawRepository<M> {
    pub(super) fn new(documents: Repository<M>) -> Self {
        RawRepository { documents }
    }
}

impl_debug!(RawRepository<M>);

impl<M: Document> RawRepository<M> {
    /// Stores a new document, and returns it as it is stored.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::bson::rawdoc;
    ///
    /// let rivet = rawdoc! {
    ///     "_id": 4_i64, "name": "rivet", "qty": 1_i64, "price": 0.1, "tags": [], "color": "of another program",
    /// };
    /// shop.parts.raw().insert(rivet.clone()).await?;
    /// assert_eq!(shop.parts.raw().get(4).await?, rivet);
    /// assert_eq!(shop.parts.get(4).await?.name, "rivet");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Repository::insert`]; `Decode` if it could not be read as the model.
    pub fn insert(&self, document: RawDocumentBuf) -> RawWrite<M> {
        RawWrite(self.many(vec![document], WriteKind::Insert))
    }

    /// Stores new documents as one unit, and returns them as they are stored, in the same order.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::bson::rawdoc;
    ///
    /// let part = |id: i64, name: &str| rawdoc! { "_id": id, "name": name, "qty": 1_i64, "price": 0.1, "tags": [] };
    /// let stored = shop.parts.raw().insert_many([part(4, "rivet"), part(5, "dowel")]).await?;
    /// assert_eq!(stored.len(), 2);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`insert`](RawRepository::insert), for any of them. Nothing is stored then.
    pub fn insert_many(
        &self,
        documents: impl IntoIterator<Item = RawDocumentBuf>,
    ) -> RawWriteMany<M> {
        self.many(documents.into_iter().collect(), WriteKind::Insert)
    }

    /// Replaces the document with the same `_id`, and returns the stored document. Fields that the new document lacks are removed.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::bson::rawdoc;
    ///
    /// let parts = shop.parts.raw();
    /// let nut = rawdoc! { "_id": 2_i64, "name": "nut", "qty": 5_i64, "price": 0.05, "tags": [] };
    /// parts.replace(nut).await?;
    /// assert!(parts.get(2).await?.get("note").unwrap().is_none());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Repository::replace`]; `Decode` if it could not be read as the model.
    pub fn replace(&self, document: RawDocumentBuf) -> RawWrite<M> {
        RawWrite(self.many(vec![document], WriteKind::Replace { upsert: false }))
    }

    /// Replaces the document with the same `_id`, or inserts it if there is none. Returns the stored document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::bson::rawdoc;
    ///
    /// let rivet = rawdoc! { "_id": 4_i64, "name": "rivet", "qty": 1_i64, "price": 0.1, "tags": [] };
    /// shop.parts.raw().upsert(rivet).await?;
    /// assert_eq!(shop.parts.get(4).await?.name, "rivet");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`replace`](RawRepository::replace), except `NotFound`.
    pub fn upsert(&self, document: RawDocumentBuf) -> RawWrite<M> {
        RawWrite(self.many(vec![document], WriteKind::Replace { upsert: true }))
    }

    /// Reads the document with an `_id`, as [`Repository::get`] does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let nut = shop.parts.raw().get(2).await?;
    /// assert_eq!(nut.get_str("note").unwrap(), "M4");
    /// # Ok(()) });
    /// ```
    pub fn get(&self, id: impl IntoId<M>) -> Get<M, RawDocumentBuf> {
        self.documents.get(id).raw()
    }

    /// Finds the documents that match a filter, as [`Repository::find`] does.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let scarce = shop.parts.raw().find(Part::fields().qty.lt(10)).await?;
    /// assert_eq!(scarce[0].get_str("name").unwrap(), "nut");
    /// # Ok(()) });
    /// ```
    pub fn find(&self, filter: Filter<M>) -> Query<M, (), RawDocumentBuf> {
        self.documents.find(filter).raw()
    }

    /// Finds all documents, in the order of their `_id`s.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let page = shop.parts.raw().all().page(2).await?;
    /// assert_eq!(page.items[1].get_str("name").unwrap(), "nut");
    /// # Ok(()) });
    /// ```
    pub fn all(&self) -> Query<M, (), RawDocumentBuf> {
        self.find(Filter::all())
    }

    fn many(&self, documents: Vec<RawDocumentBuf>, kind: WriteKind) -> RawWriteMany<M> {
        RawWriteMany {
            session: self.documents.session().clone(),
            documents,
            kind,
            model: PhantomData,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum WriteKind {
    Insert,
    Replace { upsert: bool },
}

/// A write of one document from a [`RawRepository`]. Awaiting it returns the document as it is stored.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// use odm::bson::rawdoc;
///
/// let rivet = rawdoc! { "_id": 4_i64, "name": "rivet", "qty": 1_i64, "price": 0.1, "tags": [] };
/// let stored = shop.parts.raw().insert(rivet.clone()).await?;
/// assert_eq!(stored, rivet);
/// # Ok(()) });
/// ```
#[must_use = "a write does nothing until it is awaited"]
pub struct RawWrite<M>(RawWriteMany<M>);

impl<M: Document> RawWrite<M> {
    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](super#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::bson::rawdoc;
    ///
    /// let rivet = rawdoc! { "_id": 4_i64, "name": "rivet", "qty": 1_i64, "price": 0.1, "tags": [] };
    /// let plan = shop.parts.raw().insert(rivet).plan().await?;
    /// assert_eq!(plan.collections[0].inserted, 1);
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }
}

impl<M: Document> std::fmt::Debug for RawWrite<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RawWrite").field(&self.0).finish()
    }
}

impl<M: Document> WriteBuilder for RawWrite<M> {
    type Returned = RawDocumentBuf;

    fn prepare(self) -> Result<PreparedWrite<RawDocumentBuf>> {
        self.0.prepared(|mut stored| stored.swap_remove(0))
    }
}

/// A write of several documents from a [`RawRepository`]. Awaiting it returns them as they are stored.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let mut parts = shop.parts.raw().all().await?;
/// # shop.products.delete_where(Filter::all()).await.unwrap_err();
/// # shop.orders.delete_where(Filter::all()).await?;
/// # shop.products.delete_where(Filter::all()).await?;
/// shop.parts.delete_where(Filter::all()).await?;
/// let stored = shop.parts.raw().insert_many(parts.drain(..)).await?;
/// assert_eq!(stored.len(), 3);
/// # Ok(()) });
/// ```
#[must_use = "a write does nothing until it is awaited"]
pub struct RawWriteMany<M> {
    session: Session,
    documents: Vec<RawDocumentBuf>,
    kind: WriteKind,
    model: PhantomData<fn() -> M>,
}

impl_debug!(RawWriteMany<M>: kind);

impl<M: Document> RawWriteMany<M> {
    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](super#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::bson::rawdoc;
    ///
    /// let part = |id: i64, name: &str| rawdoc! { "_id": id, "name": name, "qty": 1_i64, "price": 0.1, "tags": [] };
    /// let plan = shop.parts.raw().insert_many([part(4, "rivet"), part(5, "dowel")]).plan().await?;
    /// assert_eq!(plan.collections[0].inserted, 2);
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }

    fn prepared<T: Send + 'static>(
        self,
        returned: fn(Vec<RawDocumentBuf>) -> T,
    ) -> Result<PreparedWrite<T>> {
        let collection = M::COLLECTION.to_owned();
        let documents = self.documents.into_iter().map(|document| {
            // The bytes may come from outside, and be invalid.
            check_document(M::COLLECTION, &document)?;
            refuse_null_id::<M>(&document)?;
            Ok(stamped(Doc::new(document)))
        });
        let documents = documents.collect::<Result<Vec<Doc>>>()?;
        let (stored, check_returned) = stored_documents::<M>();
        let write = match self.kind {
            WriteKind::Insert => Write::Insert {
                collection,
                documents,
                numbering: None,
                check_returned,
                rights: None,
                bypasses_rule: false,
            },
            WriteKind::Replace { upsert } => Write::Replace {
                collection,
                documents,
                upsert,
                is_raw: true,
                check_returned,
            },
        };
        let finish = move |_| {
            let stored =
                std::mem::take(&mut *stored.lock().unwrap_or_else(PoisonError::into_inner));
            Ok(returned(stored))
        };
        Ok(PreparedWrite::new(self.session, write, finish))
    }
}

impl<M: Document> WriteBuilder for RawWriteMany<M> {
    type Returned = Vec<RawDocumentBuf>;

    fn prepare(self) -> Result<PreparedWrite<Vec<RawDocumentBuf>>> {
        self.prepared(|stored| stored)
    }
}

impl_write_future!(RawWrite<M>, RawWriteMany<M>);

type StoredDocuments = Arc<Mutex<Vec<RawDocumentBuf>>>;

/// The documents as the unit stores them, which must be readable as the model.
fn stored_documents<M: Document>() -> (StoredDocuments, ReturnedCheck) {
    let stored = StoredDocuments::default();
    let kept = stored.clone();
    let check = ReturnedCheck::new(move |documents: &[Doc]| {
        for document in documents {
            decode::<M>(M::COLLECTION, document)?;
        }
        let documents = documents
            .iter()
            .map(|document| RawDocumentBuf::clone(document));
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = documents.collect();
        Ok(())
    });
    (stored, check)
}
