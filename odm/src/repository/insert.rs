//! Inserts.

use std::iter;

use odm_store::Result;

use super::{
    PreparedWrite, WriteBuilder, impl_debug,
    prepared::impl_write_future,
    rows::{ReadBack, encode_new, numbering, stamped},
};
use crate::{
    maintain::{Doc, IdNumbering, Write, WritePlan},
    model::{Document, Insertable},
    session::Session,
};

/// An insert of one document, from [`Repository::insert`](super::Repository::insert). Awaiting it returns the stored document.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let review = Review {
///     id: 5,
///     product: Ref::new(3),
///     stars: 4,
///     text: "Large".into(),
///     published: "2026-03-10".parse()?,
/// };
/// let stored: Review = shop.reviews.insert(review).await?;
/// assert_eq!(shop.products.get(3).await?.review_count, 1);
/// # Ok(()) });
/// ```
#[must_use = "a write does nothing until it is awaited"]
pub struct Insert<M> {
    session: Session,
    sent: NewDocuments<M>,
}

impl<M: Document> Insert<M> {
    pub(super) fn new<N: Insertable<M>>(session: Session, document: N) -> Self {
        let sent = NewDocuments::new(iter::once(document));
        Insert { session, sent }
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](super#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// # let published = "2026-03-10".parse()?;
    /// let review = Review { id: 5, product: Ref::new(3), stars: 4, text: "Large".into(), published };
    /// let plan = shop.reviews.insert(review).plan().await?;
    /// assert_eq!(plan.collections.len(), 2); // the review, and the product that shows and counts it
    /// assert!(shop.reviews.get(5).optional().await?.is_none(), "nothing was stored");
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }
}

impl_debug!(Insert<M>);

impl<M: Document> WriteBuilder for Insert<M> {
    type Returned = M;

    fn prepare(self) -> Result<PreparedWrite<M>> {
        self.sent
            .prepare(self.session, |mut stored| stored.swap_remove(0))
    }
}

/// An insert of several documents, from [`Repository::insert_many`](super::Repository::insert_many).
/// Awaiting it returns the stored documents, in the same order.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let bolt = shop.parts.get(1).await?;
/// let more = ["rivet", "dowel"].into_iter().zip(4..);
/// let more = more.map(|(name, id)| Part { id, name: name.into(), ..bolt.clone() });
/// let stored: Vec<Part> = shop.parts.insert_many(more).await?;
/// assert_eq!(stored.len(), 2);
/// # Ok(()) });
/// ```
#[must_use = "a write does nothing until it is awaited"]
pub struct InsertMany<M> {
    session: Session,
    sent: NewDocuments<M>,
}

impl<M: Document> InsertMany<M> {
    pub(super) fn new<N: Insertable<M>>(
        session: Session,
        documents: impl IntoIterator<Item = N>,
    ) -> Self {
        let sent = NewDocuments::new(documents);
        InsertMany { session, sent }
    }

    /// Runs the write, rolls it back, and returns the changes that it would make; see [dry runs](super#dry-runs).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let bolt = shop.parts.get(1).await?;
    /// let more = (4..9).map(|id| Part { id, name: format!("bolt {id}"), ..bolt.clone() });
    /// let plan = shop.parts.insert_many(more).plan().await?;
    /// assert_eq!(plan.collections[0].inserted, 5);
    /// # Ok(()) });
    /// ```
    pub async fn plan(self) -> Result<WritePlan> {
        self.prepare()?.plan().await
    }
}

impl_debug!(InsertMany<M>);

impl<M: Document> WriteBuilder for InsertMany<M> {
    type Returned = Vec<M>;

    fn prepare(self) -> Result<PreparedWrite<Vec<M>>> {
        self.sent.prepare(self.session, |stored| stored)
    }
}

impl_write_future!(Insert<M>, InsertMany<M>);

/// Documents to insert, as they are stored.
struct NewDocuments<M> {
    documents: Result<Vec<Doc>>,
    numbering: Option<IdNumbering>,
    read_back: fn(&[Doc]) -> ReadBack<M>,
}

impl<M: Document> NewDocuments<M> {
    fn new<N: Insertable<M>>(documents: impl IntoIterator<Item = N>) -> Self {
        let documents = documents.into_iter();
        let documents = documents.map(|document| encode_new(&document).map(stamped));
        NewDocuments {
            documents: documents.collect(),
            numbering: numbering::<M, N>(),
            read_back: match N::IS_WHOLE {
                true => ReadBack::new,
                false => ReadBack::of_new,
            },
        }
    }

    fn prepare<T: Send + 'static>(
        self,
        session: Session,
        returned: fn(Vec<M>) -> T,
    ) -> Result<PreparedWrite<T>> {
        let documents = self.documents?;
        let read_back = (self.read_back)(&documents);
        let write = Write::Insert {
            collection: M::COLLECTION.to_owned(),
            documents,
            numbering: self.numbering,
            check_returned: read_back.check(),
            rights: None,
            bypasses_rule: false,
        };
        let prepared = PreparedWrite::returning(session, write, read_back, returned);
        Ok(prepared)
    }
}
