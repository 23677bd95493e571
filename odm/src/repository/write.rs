//! The writes of a repository.

use futures_core::future::BoxFuture;
use odm_store::{Error, Result};

use super::{
    Delete, DeleteWhere, Insert, InsertMany, MatchingDocuments, OneDocument, Replace, Repository,
    UpsertBy, UpsertMany, replace,
};
use crate::{
    model::{Document, Insertable, IntoId, UniqueKey, id_to_raw},
    query::{Filter, Update},
};

/// # Writes
impl<M: Document> Repository<M> {
    /// Stores a new document, and returns it as stored. It takes the model, or the struct of a new document that
    /// `#[document(new = "NewTask")]` makes, with only the fields that a caller gives.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let order = NewOrder {
    ///     customer: "ann".into(),
    ///     lines: vec![Line { product: Ref::new(2), quantity: 1 }],
    ///     total: 19.5,
    ///     placed: DateTime::now(),
    ///     shipped: None,
    /// };
    /// let order: Order = shop.orders.insert(order).await?;
    /// assert_eq!(order.id, 4); // the next of the sequence
    /// # Ok(()) });
    /// ```
    ///
    /// A field of the document itself, other than `_id`, that is `Timestamp(0, 0)` gets the current time, as
    /// in MongoDB: later ones of a process are greater. [`replace`](Repository::replace) and [`upsert`](Repository::upsert) do the same,
    /// but not updates and [`modify`](Repository::modify), which store single fields.
    ///
    /// # Errors
    ///
    /// `DuplicateKey` if its `_id` or the key of a unique index is taken; `DanglingReference` if a
    /// reference in it is dangling; `Limit` if it is over 16 MiB or nested over 180 levels.
    pub fn insert(&self, document: impl Insertable<M>) -> Insert<M> {
        Insert::new(self.session.clone(), document)
    }

    /// Stores new documents as one unit, and returns them as stored, in the same order. The documents may refer to each other.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part = |id, name: &str| Part { id, name: name.into(), qty: 0, price: 0.1, tags: vec![], note: None };
    /// let stored = shop.parts.insert_many([part(4, "rivet"), part(5, "dowel")]).await?;
    /// assert_eq!(stored[1].name, "dowel");
    ///
    /// // One name is taken, and so neither of the two is stored.
    /// let taken = shop.parts.insert_many([part(6, "hinge"), part(7, "bolt")]).await;
    /// assert!(taken.unwrap_err().is_duplicate_key());
    /// assert_eq!(shop.parts.all().count().await?, 5);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`insert`](Repository::insert), for any of the documents. Nothing is stored then.
    pub fn insert_many<N: Insertable<M>>(
        &self,
        documents: impl IntoIterator<Item = N>,
    ) -> InsertMany<M> {
        InsertMany::new(self.session.clone(), documents)
    }

    /// Changes fields of the document with an `_id`: `update(id).set(Part::fields().qty, 3)`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part = Part::fields();
    /// shop.parts.update(2).inc(part.qty, 100).set(part.note, "M4, long").await?;
    /// assert_eq!(shop.parts.get(2).await?.qty, 105);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such document; the errors of [`insert`](Repository::insert) for the
    /// changed document.
    pub fn update(&self, id: impl IntoId<M>) -> Update<M, OneDocument> {
        Update::with_target(OneDocument::new(
            self.session.clone(),
            id_to_raw::<M>(&id.into_id()),
        ))
    }

    /// Changes fields of all documents that match a filter, as one unit.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part = Part::fields();
    /// let result = shop.parts.update_where(part.tags.contains("steel")).mul(part.price, 2.0).await?;
    /// assert_eq!(result.modified, 2);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`insert`](Repository::insert) for any changed document; `Limit` if more documents match than a unit may touch.
    /// Nothing is changed then.
    pub fn update_where(&self, filter: Filter<M>) -> Update<M, MatchingDocuments> {
        Update::with_target(MatchingDocuments::new(
            self.session.clone(),
            filter.into_mql(),
        ))
    }

    /// Reads the document with an `_id`, lets the closure change it, and stores the fields that differ,
    /// if the document has not been changed in between. Otherwise it starts again, so the closure may
    /// run more than once. Fields that the model does not name are kept. Returns the stored document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part = shop.parts.modify(1, |part| part.name = part.name.to_uppercase()).await?;
    /// assert_eq!(part.name, "BOLT");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such document; the errors of [`insert`](Repository::insert) for the changed
    /// document.
    pub fn modify<'f>(
        &self,
        id: impl IntoId<M>,
        mut change: impl FnMut(&mut M) + Send + 'f,
    ) -> BoxFuture<'f, Result<M>> {
        self.try_modify(id, move |document: &mut M| {
            change(document);
            Ok(())
        })
    }

    /// Changes a document as [`modify`](Repository::modify) does, by a closure that can fail: then nothing is
    /// stored, and its error is returned.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// #[derive(Debug)]
    /// enum Problem {
    ///     TooFew(i64),
    ///     Store(odm::Error),
    /// }
    /// # impl From<odm::Error> for Problem {
    /// #     fn from(error: odm::Error) -> Self { Problem::Store(error) }
    /// # }
    /// let taken = shop.parts.try_modify(2, |part| {
    ///     if part.qty < 10 {
    ///         return Err(Problem::TooFew(part.qty));
    ///     }
    ///     part.qty -= 10;
    ///     Ok(())
    /// });
    /// assert!(matches!(taken.await, Err(Problem::TooFew(5))));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of the closure and of [`modify`](Repository::modify).
    pub fn try_modify<'f, E: From<Error> + Send + 'f>(
        &self,
        id: impl IntoId<M>,
        change: impl FnMut(&mut M) -> Result<(), E> + Send + 'f,
    ) -> BoxFuture<'f, Result<M, E>> {
        Box::pin(replace::modify(
            self.session.clone(),
            id_to_raw::<M>(&id.into_id()),
            change,
        ))
    }

    /// Replaces the document with the same `_id`, and returns the stored document.
    ///
    /// Changes that others made since it was read are lost, unless the model has a `#[version]`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // A form was filled with what the shop sells now, and comes back after somebody has changed it.
    /// let mut form = shop.products.get(2).await?;
    /// shop.products.update(2).set(Product::fields().name, "desk lamp").await?;
    /// form.price.value = 21.0;
    /// assert!(shop.products.replace(form).await.unwrap_err().is_stale()); // it has a `#[version]`
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such document; `Stale` if the model has a
    /// `#[version]` and the document was changed since it was read; the errors of [`insert`](Repository::insert).
    pub fn replace(&self, document: M) -> Replace<M> {
        Replace::new(self.session.clone(), document, false)
    }

    /// Replaces the document with the same `_id`, or inserts it if there is none. Returns the stored document.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut washer = shop.parts.get(3).await?;
    /// washer.qty = 250;
    /// shop.parts.upsert(washer.clone()).await?; // replaced
    /// washer.id = 4;
    /// washer.name = "spring washer".into();
    /// shop.parts.upsert(washer).await?; // inserted
    /// assert_eq!(shop.parts.all().count().await?, 4);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`replace`](Repository::replace), except `NotFound`.
    pub fn upsert(&self, document: M) -> Replace<M> {
        Replace::new(self.session.clone(), document, true)
    }

    /// Stores documents as [`upsert`](Repository::upsert) does, as one unit, and returns the stored ones, in the same order.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// // A supplier's list, of which some is known: twice the same call leaves the same documents.
    /// let mut list = shop.parts.all().await?;
    /// list.push(Part { id: 4, name: "rivet".into(), ..list[0].clone() });
    /// let stored = shop.parts.upsert_many(list).await?;
    /// assert_eq!(stored.len(), 4);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`upsert`](Repository::upsert), for any of the documents; `InvalidQuery` if two of them have the same `_id`. Nothing
    /// is stored then.
    pub fn upsert_many(&self, documents: impl IntoIterator<Item = M>) -> UpsertMany<M> {
        UpsertMany::new(self.session.clone(), documents.into_iter().collect())
    }

    /// Inserts a document, unless a document with the same unique key exists: the existing one then gets the fields of the new one, and
    /// keeps its `_id`. Returns the stored document. [`update`](UpsertBy::update) makes other changes to the existing document, and
    /// [`keep`](UpsertBy::keep) none. If several such calls run at once, only one inserts.
    ///
    /// The key is a field of the document with
    /// `#[index(unique)]`, or a tuple of the fields of a unique index. If the given document was read, its `#[version]` is compared as by
    /// [`replace`](Repository::replace).
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let part = |name: &str, qty| Part { id: 4, name: name.into(), qty, price: 0.1, tags: vec![], note: None };
    /// let name = Part::fields().name;
    /// // A delivery: what is known is counted up, and what is new is inserted.
    /// for (delivered, qty) in [("bolt", 10), ("rivet", 50)] {
    ///     let more = Update::new().inc(Part::fields().qty, qty);
    ///     shop.parts.upsert_by(name, part(delivered, qty)).update(more).await?;
    /// }
    /// assert_eq!(shop.parts.get(1).await?.qty, 100);
    /// assert_eq!(shop.parts.get(4).await?.name, "rivet");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`insert`](Repository::insert) and [`replace`](Repository::replace); `InvalidQuery` if a field of the key has no value
    /// in the document, or is derived.
    pub fn upsert_by<K: UniqueKey<M>>(&self, _: K, document: impl Insertable<M>) -> UpsertBy<M> {
        UpsertBy::new(self.session.clone(), K::STORED, &document)
    }

    /// Deletes the document with an `_id`, and returns whether there was one.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert!(shop.parts.delete(3).await?);
    /// assert!(!shop.parts.delete(3).await?, "it is gone already");
    /// // Products refer to the bolt.
    /// assert!(shop.parts.delete(1).await.unwrap_err().is_restricted());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Restricted` if other documents refer to it, naming one.
    pub fn delete(&self, id: impl IntoId<M>) -> Delete<M> {
        Delete::new(self.session.clone(), id_to_raw::<M>(&id.into_id()))
    }

    /// Deletes all documents that match a filter, as one unit, and returns their number.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let deleted = shop.reviews.delete_where(Review::fields().stars.lt(5)).await?;
    /// assert_eq!(deleted, 2);
    /// // What is derived of them has followed.
    /// assert_eq!(shop.products.get(1).await?.review_count, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Restricted` if documents that stay refer to one of them; `Limit` if more documents match than a
    /// unit may touch. Nothing is deleted then.
    pub fn delete_where(&self, filter: Filter<M>) -> DeleteWhere<M> {
        DeleteWhere::new(self.session.clone(), filter)
    }
}
