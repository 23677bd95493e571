//! Writes that return the documents that they match.

use std::sync::{Arc, Mutex, PoisonError};

use odm_store::{Error, ErrorKind, Result};

use super::{
    PreparedWrite, WriteBuilder,
    delete::{self, Delete, DeleteWhere},
    prepared::impl_write_future,
    rows::decode,
    update::{MatchingDocuments, OneDocument},
};
use crate::{
    maintain::{self, ReturnedCheck},
    model::Document,
    query::Update,
};

/// An update or a delete that returns the documents that it matches, from [`returning`](Update::returning) on its
/// builder.
///
/// They are read within the unit, which is undone if one of them cannot be read as its model. Their cold parts are
/// not loaded.
///
/// ```
/// # use odm::derive::examples::*; example(async |shop| {
/// let parts: Vec<Part> =
///     shop.parts.update_where(Part::fields().qty.lt(10)).set(Part::fields().note, "order more").returning().await?;
/// assert_eq!(parts[0].name, "nut");
/// # Ok(()) });
/// ```
#[derive(Debug)]
#[must_use = "a write does nothing until it is awaited"]
pub struct Returning<W> {
    write: W,
    before: bool,
}

impl<M: Document, T> Update<M, T> {
    /// Returns the document, or all documents that match the filter, as stored after the update, including any that the update left
    /// unchanged.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part: Part = shop.parts.update(2).inc(Part::fields().qty, -1).returning().await?;
    /// assert_eq!(part.qty, 4);
    /// # Ok(()) });
    /// ```
    pub fn returning(self) -> Returning<Self> {
        Returning {
            write: self,
            before: false,
        }
    }

    /// Returns the document, or all documents that match the filter, as they were before the update.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let before = shop.parts.update(2).set(Part::fields().qty, 0).returning_before().await?;
    /// assert_eq!(before.qty, 5); // so many were left
    /// # Ok(()) });
    /// ```
    pub fn returning_before(self) -> Returning<Self> {
        Returning {
            write: self,
            before: true,
        }
    }
}

impl<M: Document> Delete<M> {
    /// Returns the deleted document, if there was one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let last: Option<Review> = shop.reviews.delete(2).returning().await?;
    /// assert_eq!(last.unwrap().text, "Wobbles");
    /// # Ok(()) });
    /// ```
    pub fn returning(self) -> Returning<Self> {
        Returning {
            write: self,
            before: true,
        }
    }
}

impl<M: Document> DeleteWhere<M> {
    /// Returns the deleted documents.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let deleted: Vec<Review> = shop.reviews.delete_where(Review::fields().stars.lt(5)).returning().await?;
    /// assert_eq!(deleted.len(), 2);
    /// # Ok(()) });
    /// ```
    pub fn returning(self) -> Returning<Self> {
        Returning {
            write: self,
            before: true,
        }
    }
}

/// The documents of one run of a unit.
pub(super) struct ReturnedDocuments<M>(Arc<Mutex<Vec<M>>>);

impl<M: Document> ReturnedDocuments<M> {
    /// Makes the request for a write to return its documents, and the place that receives them.
    pub(super) fn new(before: bool) -> (Self, maintain::ReturnDocument) {
        let documents = Arc::new(Mutex::new(Vec::new()));
        let read = documents.clone();
        let check = ReturnedCheck::new(move |stored| {
            let all = stored.iter().map(|stored| decode(M::COLLECTION, stored));
            let all = all.collect::<Result<Vec<M>>>()?;
            *read.lock().unwrap_or_else(PoisonError::into_inner) = all;
            Ok(())
        });
        (
            ReturnedDocuments(documents),
            maintain::ReturnDocument { before, check },
        )
    }

    fn take(self) -> Vec<M> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the document of a write of one `_id` that matched.
    pub(super) fn take_one(self) -> Result<M> {
        let one = self.take().pop();
        one.ok_or_else(|| Error::new(ErrorKind::Closed, "the store did not return the document"))
    }
}

impl<M: Document> WriteBuilder for Returning<Update<M, OneDocument>> {
    type Returned = M;

    fn prepare(self) -> Result<PreparedWrite<M>> {
        let (returned, returning) = ReturnedDocuments::<M>::new(self.before);
        let finish = |_| returned.take_one();
        self.write.prepared(Some(returning), finish)
    }
}

impl<M: Document> WriteBuilder for Returning<Update<M, MatchingDocuments>> {
    type Returned = Vec<M>;

    fn prepare(self) -> Result<PreparedWrite<Vec<M>>> {
        let (returned, returning) = ReturnedDocuments::<M>::new(self.before);
        let finish = |_| Ok(returned.take());
        self.write.prepared(Some(returning), finish)
    }
}

impl<M: Document> WriteBuilder for Returning<Delete<M>> {
    type Returned = Option<M>;

    fn prepare(self) -> Result<PreparedWrite<Option<M>>> {
        let (session, target) = self.write.into_parts();
        let (returned, returning) = ReturnedDocuments::<M>::new(self.before);
        let write = delete::write::<M>(target?, Some(returning));
        let finish = |_| Ok(returned.take().pop());
        Ok(PreparedWrite::new(session, write, finish))
    }
}

impl<M: Document> WriteBuilder for Returning<DeleteWhere<M>> {
    type Returned = Vec<M>;

    fn prepare(self) -> Result<PreparedWrite<Vec<M>>> {
        let (session, target) = self.write.into_parts();
        let (returned, returning) = ReturnedDocuments::<M>::new(self.before);
        let write = delete::write::<M>(target?, Some(returning));
        let finish = |_| Ok(returned.take());
        Ok(PreparedWrite::new(session, write, finish))
    }
}

impl_write_future!(
    Returning<Update<M, OneDocument>>,
    Returning<Update<M, MatchingDocuments>>,
    Returning<Delete<M>>,
    Returning<DeleteWhere<M>>,
);
