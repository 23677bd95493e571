//! Writes that return the documents that they match.

use std::{
    future::IntoFuture,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Deferred,
    delete::{self, Delete, DeleteWhere},
    rows::decode,
    update::{MatchingDocuments, OneDocument},
};
use crate::{
    error::Result,
    maintain::{self, ReturnedCheck, Write},
    model::Document,
    query::Update,
    session::Session,
};

/// An update or a delete that returns the documents that it matches, from [`returning`](Update::returning) on its
/// builder.
///
/// They are read within the unit, which is undone if one of them cannot be read as its model. Their cold parts are
/// not loaded.
#[derive(Debug)]
#[must_use = "a write does nothing until it is awaited"]
pub struct Returning<W> {
    write: W,
    before: bool,
}

impl<M: Document, T> Update<M, T> {
    /// Returns the changed document, or all of those that match the filter, as they are stored then; one that is
    /// as it was before among them.
    ///
    /// ```
    /// # use odm::{Embedded, prelude::*}; use serde::{Deserialize, Serialize};
    /// # #[derive(Debug, Serialize, Deserialize, Document)] #[document(collection = "parts")]
    /// # struct Part { #[serde(rename = "_id")] id: i64, qty: i64 }
    /// # #[derive(Database)] #[database(name = "shop", version = 1)]
    /// # struct Shop { parts: Repository<Part> }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # let shop = Shop::open(Embedded::memory().await?).await?;
    /// # shop.parts.insert(Part { id: 1, qty: 3 }).await?;
    /// let part: Part = shop.parts.update(1).inc(Part::fields().qty, -1).returning().await?;
    /// assert_eq!(part.qty, 2);
    /// let last: Option<Part> = shop.parts.delete(1).returning().await?;
    /// assert_eq!(last.map(|part| part.qty), Some(2));
    /// # Ok::<_, odm::Error>(()) }).unwrap();
    /// ```
    pub fn returning(self) -> Returning<Self> {
        Returning {
            write: self,
            before: false,
        }
    }

    /// Returns the document, or all of those that match the filter, as they were before the update.
    pub fn returning_before(self) -> Returning<Self> {
        Returning {
            write: self,
            before: true,
        }
    }
}

impl<M: Document> Delete<M> {
    /// Returns the deleted document, if there was one.
    pub fn returning(self) -> Returning<Self> {
        Returning {
            write: self,
            before: true,
        }
    }
}

impl<M: Document> DeleteWhere<M> {
    /// Returns the deleted documents.
    pub fn returning(self) -> Returning<Self> {
        Returning {
            write: self,
            before: true,
        }
    }
}

/// The documents of one run of a unit.
struct Returned<M>(Arc<Mutex<Vec<M>>>);

impl<M: Document> Returned<M> {
    /// What makes a write return its documents, and where they are then.
    fn new(before: bool) -> (Self, maintain::Returning) {
        let documents = Arc::new(Mutex::new(Vec::new()));
        let read = documents.clone();
        let check = ReturnedCheck::new(move |stored| {
            let all = stored.iter().map(|stored| decode(M::COLLECTION, stored));
            let all = all.collect::<Result<Vec<M>>>()?;
            *read.lock().unwrap_or_else(PoisonError::into_inner) = all;
            Ok(())
        });
        (Returned(documents), maintain::Returning { before, check })
    }

    async fn run(self, session: &Session, write: Write) -> Result<Vec<M>> {
        session.write(write).await?;
        let mut documents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(std::mem::take(&mut *documents))
    }
}

impl<M: Document> IntoFuture for Returning<Update<M, OneDocument>> {
    type Output = Result<M>;
    type IntoFuture = Deferred<M>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (returned, returning) = Returned::<M>::new(self.before);
            let (write, target) = self.write.into_write(Some(returning));
            let found = returned.run(target.session(), write?).await?.pop();
            match found {
                Some(document) => Ok(document),
                None => Err(target.unmatched::<M>().await?),
            }
        })
    }
}

impl<M: Document> IntoFuture for Returning<Update<M, MatchingDocuments>> {
    type Output = Result<Vec<M>>;
    type IntoFuture = Deferred<Vec<M>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (returned, returning) = Returned::<M>::new(self.before);
            let (write, session) = self.write.into_write(Some(returning));
            returned.run(&session, write?).await
        })
    }
}

impl<M: Document> IntoFuture for Returning<Delete<M>> {
    type Output = Result<Option<M>>;
    type IntoFuture = Deferred<Option<M>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (session, filter) = self.write.into_parts();
            let (returned, returning) = Returned::<M>::new(self.before);
            let write = delete::write::<M>(filter?, Some(returning));
            Ok(returned.run(&session, write).await?.pop())
        })
    }
}

impl<M: Document> IntoFuture for Returning<DeleteWhere<M>> {
    type Output = Result<Vec<M>>;
    type IntoFuture = Deferred<Vec<M>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let (session, filter) = self.write.into_parts();
            let (returned, returning) = Returned::<M>::new(self.before);
            let write = delete::write::<M>(filter?, Some(returning));
            returned.run(&session, write).await
        })
    }
}
