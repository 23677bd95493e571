//! Repositories: one for each collection, and the builders of their operations.
//!
//! A builder does nothing until it is awaited. Unless its documentation says otherwise, a write is
//! one unit: when it returns, all of it is stored, with everything that is derived from it; when it
//! fails, nothing is. Dropping its future either prevents it or lets all of it happen.
//!
//! # Dry runs
//!
//! `plan()` on the builder of a write executes the write, rolls it back, and returns what it would
//! change, as a [`WritePlan`](crate::WritePlan). Its errors are those of the write. It blocks other
//! writers meanwhile, and cannot be called inside a transaction.

mod audit;
mod bulk;
mod children;
mod delete;
mod find;
mod get;
mod group;
mod insert;
mod join;
mod load;
mod page;
mod prepared;
mod raw;
mod replace;
mod returning;
mod rows;
mod semi_join;
mod stream;
mod update;
mod upsert;
mod watch;

/// Implements `Debug` by some fields of a builder. It needs no `Debug` of the model.
macro_rules! impl_debug {
    ($builder:ident<$model:ident $(, $type:ident)*> $(: $($field:ident),+)?) => {
        impl<$model: crate::model::Document $(, $type)*> std::fmt::Debug
            for $builder<$model $(, $type)*>
        {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($builder))
                    .field("collection", &$model::COLLECTION)
                    $($(.field(stringify!($field), &self.$field))+)?
                    .finish_non_exhaustive()
            }
        }
    };
}

use impl_debug;
use std::{fmt, marker::PhantomData};

use bson::RawBson;
use futures_core::future::BoxFuture;
use serde::{Serialize, de::DeserializeOwned};

pub(crate) use audit::AuditMode;
pub use audit::{Audit, Progress};
pub use bulk::Writes;
pub(crate) use bulk::run as run_bulk;
pub use children::{Any, AtMostOne, ChildCardinality, OfParent};
pub use delete::{Delete, DeleteWhere};
pub use find::Query;
pub use get::{Fetch, Get, Refs};
pub use group::{Aggregates, ComputedOf, GroupBy, GroupKeys, Groups, KeysOf, Unwound};
pub use insert::{Insert, InsertMany};
#[doc(hidden)]
pub use join::JoinFrom;
pub use join::{Follow, Join, Joins, Referrers, Resolve};
pub use load::Load;
pub use page::{Cursor, Page};
#[doc(hidden)]
pub use prepared::PreparedWrite;
pub use prepared::WriteBuilder;
pub use raw::{RawRepository, RawWrite, RawWriteMany};
pub use replace::{Replace, UpsertMany};
pub use returning::Returning;
pub use stream::DocumentStream;
pub use update::{MatchingDocuments, OneDocument, UpdateResult};
pub use upsert::UpsertBy;
pub use watch::{ChangeEvent, ChangeStream, Watch};

use crate::{
    error::{Error, Result},
    model::{
        Cold, Document, Embed, Field, HasCold, HasSubset, Insertable, IntoId, Is, IsOf, Model,
        Names, ParentOf, Path, Subset, SubsetItem, UniqueKey, id_to_raw, to_raw,
    },
    query::{Filter, Update},
    session::Session,
    store::{self, Durability},
};

/// A repository: the documents of one collection.
///
/// It is a field of a [`Database`](crate::Database), and is cheap to clone.
///
/// ```
/// # use odm::__private::examples::*; example(async |shop| {
/// let bolt = shop.parts.get(1).await?;
/// let scarce = shop.parts.find(Part::fields().qty.lt(10)).await?;
/// assert_eq!((bolt.name.as_str(), scarce.len()), ("bolt", 1));
/// # Ok(()) });
/// ```
pub struct Repository<M> {
    session: Session,
    model: PhantomData<fn() -> M>,
}

impl<M> Clone for Repository<M> {
    fn clone(&self) -> Self {
        Repository {
            session: self.session.clone(),
            model: PhantomData,
        }
    }
}

impl<M: Document> fmt::Debug for Repository<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Repository({})", M::COLLECTION)
    }
}

impl<M> Repository<M> {
    pub(crate) fn new(session: Session) -> Self {
        Repository {
            session,
            model: PhantomData,
        }
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }
}

impl<M: Document> Repository<M> {
    /// Returns the repository with another durability for its writes. In a transaction, the
    /// durability of the transaction applies.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// use odm::store::Durability;
    ///
    /// // Of a counter that nobody misses after a power cut, the write need not wait for the disk.
    /// let parts = shop.parts.durability(Durability::Eventual);
    /// parts.update(1).inc(Part::fields().qty, 1).await?;
    /// # assert_eq!(shop.parts.get(1).await?.qty, 91);
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn durability(&self, durability: Durability) -> Self {
        Repository::new(self.session.with_durability(durability))
    }

    /// Stores a new document, and returns what was stored. It takes the model, or the struct of a new
    /// document, which has only the fields that a caller gives: `#[document(new = "NewTask")]` makes it.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
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
    /// in MongoDB: later ones of a process are greater. So it is in [`replace`](Repository::replace) and
    /// [`upsert`](Repository::upsert), but not in updates, nor in [`modify`](Repository::modify), which store
    /// single fields.
    ///
    /// # Errors
    ///
    /// `DuplicateKey` if its `_id` or the key of a unique index is taken; `DanglingReference` if a
    /// reference in it is dangling; `Limit` if it is over 16 MiB or nested over 180 levels.
    pub fn insert(&self, document: impl Insertable<M>) -> Insert<M> {
        Insert::new(self.session.clone(), document)
    }

    /// Stores new documents as one unit, and returns what was stored, in the same order. The documents
    /// may refer to each other.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
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
    /// Those of [`insert`](Repository::insert), for any of the documents. Nothing is stored then.
    pub fn insert_many<N: Insertable<M>>(
        &self,
        documents: impl IntoIterator<Item = N>,
    ) -> InsertMany<M> {
        InsertMany::new(self.session.clone(), documents)
    }

    /// Reads the document with an `_id`.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// let bolt = shop.parts.get(1).await?;
    /// assert_eq!(bolt.name, "bolt");
    /// assert!(shop.parts.get(99).await.unwrap_err().is_not_found());
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such document; see [`optional`](Get::optional).
    pub fn get(&self, id: impl IntoId<M>) -> Get<M> {
        Get::new(self.session.clone(), id_to_raw::<M>(&id.into_id()))
    }

    /// Reads the documents with these `_id`s by one request, in the same order, repeats included.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// let parts = shop.parts.get_many([3, 1]).await?;
    /// assert_eq!((parts[0].name.as_str(), parts[1].name.as_str()), ("washer", "bolt"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `NotFound`, naming the `_id`s that no document has; see [`optional`](Fetch::optional).
    pub fn get_many<I: IntoId<M>>(&self, ids: impl IntoIterator<Item = I>) -> Fetch<M> {
        let ids = ids
            .into_iter()
            .map(|id| id_to_raw::<M>(&id.into_id()))
            .collect();
        Fetch::new(self.session.clone(), ids)
    }

    /// Reads the referenced documents by one request, in the same order, repeats included: the
    /// application-level join of MongoDB's guides.
    ///
    /// It takes one reference or many, bare or in embedded links.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// let shelf = shop.products.get(1).await?;
    /// let parts = shop.parts.fetch(&shelf.parts).await?;
    /// assert_eq!(parts.len(), 2);
    ///
    /// // The products of an order, whose lines embed the references.
    /// let order = shop.orders.get(1).await?;
    /// let products = shop.products.fetch(&order.lines).await?;
    /// assert_eq!((products[0].name.as_str(), products[1].name.as_str()), ("shelf", "lamp"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `NotFound`, naming the `_id`s that no document has; see [`optional`](Fetch::optional).
    pub fn fetch<R: Refs<Target: Names<M>> + ?Sized>(&self, references: &R) -> Fetch<M> {
        let ids = references
            .refs()
            .into_iter()
            .map(|reference| id_to_raw::<R::Target>(reference.id()))
            .collect();
        Fetch::new(self.session.clone(), ids)
    }

    /// Loads the cold part in a field into a document, or into many by one query:
    /// `load(&mut movies, Movie::fields().details)`. The stored value replaces the one in the field,
    /// which is unloaded if none is stored.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// let mut products = shop.products.all().limit(2).await?;
    /// assert!(!products[0].manual.is_loaded());
    /// shop.products.load(&mut products, Product::fields().manual).await?;
    /// assert_eq!(products[0].manual.get().unwrap().pages, 2);
    /// # Ok(()) });
    /// ```
    // No `async fn`: the compiler would ask for its bounds once more where it is awaited.
    pub fn load<'a, T, P, K, L>(
        &'a self,
        documents: &'a mut L,
        field: Field<Cold<T>, P, K>,
    ) -> BoxFuture<'a, Result<()>>
    where
        M: HasCold<P, T>,
        P: Path<Root: Is<M>>,
        T: Embed + DeserializeOwned,
        K: 'static,
        L: Load<M> + ?Sized,
    {
        Box::pin(load::load(&self.session, documents.documents(), field))
    }

    /// Finds the documents that match a filter.
    ///
    /// A filter and a sort name fields of the document itself, or fields of one cold part; a mixture
    /// is an error when the query runs. A query by a cold part finds only documents that have it, and
    /// loads it.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// let part = Part::fields();
    /// let found = shop.parts.find(part.tags.contains("steel") & part.qty.gt(10)).await?;
    /// assert_eq!(found[0].name, "bolt");
    /// # Ok(()) });
    /// ```
    pub fn find(&self, filter: Filter<M>) -> Query<M> {
        Query::new(self.session.clone(), filter)
    }

    /// Finds all documents, in the order of their `_id`s.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// let dearest = shop.parts.all().sort(Part::fields().price.desc()).limit(1).await?;
    /// assert_eq!(dearest[0].name, "bolt");
    /// # Ok(()) });
    /// ```
    pub fn all(&self) -> Query<M> {
        self.find(Filter::all())
    }

    /// Finds the children of a parent: the documents whose `#[reference(parent)]` references it.
    /// Returns a query to sort and limit, or for a reference with `one` a query of the only child.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// let shelf = shop.products.get(1).await?;
    /// let worst = shop.reviews.of(&shelf).sort(Review::fields().stars.asc()).limit(1).await?;
    /// assert_eq!(worst[0].text, "Wobbles");
    ///
    /// // A product has one warranty at most: `#[reference(parent, one)]`.
    /// let warranty: Option<Warranty> = shop.warranties.of(&shelf).await?;
    /// assert_eq!(warranty.unwrap().months, 24);
    /// # Ok(()) });
    /// ```
    pub fn of<P, C, const N: usize>(&self, parent: &P) -> C::Children<M>
    where
        P: ParentOf<M, C, N>,
        C: ChildCardinality,
    {
        let id = id_to_raw::<P>(parent.id());
        let filter =
            id.map(|id| crate::mql::Filter::Path(P::PATH.into(), crate::mql::Test::Eq(id)));
        C::query(self.find(Filter::from_mql(filter)))
    }

    /// Finds the children after those that a subset of their parent shows, in its order:
    /// `reviews.after_subset(&product, Product::fields().reviews)`, for a page that continues the list
    /// in the product. Only children that match the filter of the subset are among them.
    ///
    /// It continues after the elements in `parent`, as they were read. A child that has changed since
    /// may come again. No child is left out that was not seen, unless it is newer than those that
    /// were. The call reads at most twice as many children as the subset shows; the query that it
    /// returns, to limit or page, reads only the children after them.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// // The page of the product shows the two newest reviews, and "more" leads to the others.
    /// let shelf = shop.products.get(1).await?;
    /// assert_eq!((shelf.reviews[0].text.as_str(), shelf.reviews[1].text.as_str()), ("Good", "Wobbles"));
    /// let more = shop.reviews.after_subset(&shelf, Product::fields().reviews).await?.limit(20).await?;
    /// assert_eq!(more[0].text, "Solid");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `Decode` if a child cannot be read as an element of the subset.
    // No `async fn`: the compiler would ask for its bounds once more where it is awaited.
    pub fn after_subset<P, T, A, K>(
        &self,
        parent: &P,
        _: Field<Subset<T>, A, K>,
    ) -> Deferred<Query<M>>
    where
        P: Document + HasSubset<A, T>,
        A: Path,
        T: SubsetItem<Child: IsOf<M>> + Serialize + DeserializeOwned,
    {
        let session = self.session.clone();
        let elements: Result<Vec<RawBson>> = parent.subset().iter().map(to_raw).collect();
        let parent = id_to_raw::<P>(parent.id());
        Box::pin(async move {
            let find =
                children::after_subset::<P, T>(&session, parent?, A::TEXT, elements?).await?;
            Ok(Query::from_find(session, find))
        })
    }

    /// Changes fields of the document with an `_id`: `update(id).set(Part::fields().qty, 3)`.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// let part = Part::fields();
    /// shop.parts.update(2).inc(part.qty, 100).set(part.note, "M4, long").await?;
    /// assert_eq!(shop.parts.get(2).await?.qty, 105);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such document; those of [`insert`](Repository::insert) for the
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
    /// # use odm::__private::examples::*; example(async |shop| {
    /// let part = Part::fields();
    /// let result = shop.parts.update_where(part.tags.contains("steel")).mul(part.price, 2.0).await?;
    /// assert_eq!(result.modified, 2);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Repository::insert) for any changed document; `Limit` if more documents
    /// match than a unit may touch. Nothing is changed then.
    pub fn update_where(&self, filter: Filter<M>) -> Update<M, MatchingDocuments> {
        Update::with_target(MatchingDocuments::new(
            self.session.clone(),
            filter.into_mql(),
        ))
    }

    /// Reads the document with an `_id`, lets the closure change it, and stores the fields that differ,
    /// if the document has not been changed in between. Otherwise it starts again, so the closure may
    /// run more than once. Fields that the model does not name are kept. Returns what was stored.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// let part = shop.parts.modify(1, |part| part.name = part.name.to_uppercase()).await?;
    /// assert_eq!(part.name, "BOLT");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such document; those of [`insert`](Repository::insert) for the changed
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
    /// # use odm::__private::examples::*; example(async |shop| {
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
    /// That of the closure, and those of [`modify`](Repository::modify).
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

    /// Replaces the document with the same `_id`, and returns what was stored.
    ///
    /// Changes that others made since it was read are lost, unless the model has a `#[version]`.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
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
    /// `NotFound` if there is no such document; `Stale` if the model has a `#[version]` and the document was
    /// changed since it was read; those of [`insert`](Repository::insert).
    pub fn replace(&self, document: M) -> Replace<M> {
        Replace::new(self.session.clone(), document, false)
    }

    /// Replaces the document with the same `_id`, or inserts it if there is none. Returns what was
    /// stored.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
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
    /// Those of [`replace`](Repository::replace), except `NotFound`.
    pub fn upsert(&self, document: M) -> Replace<M> {
        Replace::new(self.session.clone(), document, true)
    }

    /// Stores documents as [`upsert`](Repository::upsert) does, as one unit, and returns what was stored, in the same
    /// order.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
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
    /// Those of [`upsert`](Repository::upsert), for any of the documents; `InvalidQuery` if two of them have the same
    /// `_id`. Nothing is stored then.
    pub fn upsert_many(&self, documents: impl IntoIterator<Item = M>) -> UpsertMany<M> {
        UpsertMany::new(self.session.clone(), documents.into_iter().collect())
    }

    /// Inserts a document, unless there is one with the same unique key: that one gets the fields of the new one, and
    /// keeps its `_id`. Returns the document as it is stored then. [`update`](UpsertBy::update) makes other changes of
    /// the one that is there, and [`keep`](UpsertBy::keep) none. Of several such calls at once, one inserts.
    ///
    /// The key is a field of the document with `#[index(unique)]`, or a tuple of those of a unique index of several
    /// fields. If the document that is given was read, its `#[version]` is compared as by
    /// [`replace`](Repository::replace).
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
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
    /// Those of [`insert`](Repository::insert) and [`replace`](Repository::replace); `InvalidQuery` if a field of the
    /// key has no value in the document, or is derived.
    pub fn upsert_by<K: UniqueKey<M>>(&self, _: K, document: impl Insertable<M>) -> UpsertBy<M> {
        UpsertBy::new(self.session.clone(), K::STORED, &document)
    }

    /// Deletes the document with an `_id`, and returns whether there was one.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
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
    /// # use odm::__private::examples::*; example(async |shop| {
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

    /// Lists the documents of the collection, and the cold parts, that do not conform to its validation
    /// today: a stream of findings with their progress, and `Problem::Invalid` with the path and the rule
    /// for each violation. Nothing is written.
    ///
    /// A document that was stored before the validation was declared, or under the level `moderate` or the
    /// action `warn`, is not checked until it changes. To see what a stricter model would refuse,
    /// open it with the action `warn` and call this. All validators in force are asked: those of other
    /// databases on the collection too. Under the level `off` there is none.
    ///
    /// ```
    /// # use odm::{Embedded, Problem, __private::examples::Part};
    /// # mod strict {
    /// #     use odm::prelude::*; use serde::{Deserialize, Serialize};
    /// #     #[derive(Serialize, Deserialize, Document)] #[document(collection = "parts", validation(action = "warn"))]
    /// #     pub struct Part { #[serde(rename = "_id")] pub id: i64, #[validate(max = 100)] pub qty: i64 }
    /// #     #[derive(Database)] #[database(name = "shop", version = 1)] pub struct Shop { pub parts: Repository<Part> }
    /// # }
    /// # use odm::prelude::*; use strict::*;
    /// # odm::__private::examples::example(async |_| {
    /// # let shop = Shop::open(Embedded::memory().await?).await?;
    /// # shop.parts.insert(strict::Part { id: 1, qty: 300 }).await?;
    /// // The model says `#[validate(max = 100)]` since today, with the action `warn`. What would `error` refuse?
    /// let mut findings = shop.parts.validate();
    /// while let Some(finding) = findings.try_next().await? {
    ///     if let Problem::Invalid(violation) = &finding.problem {
    ///         assert_eq!((&*violation.path, &*violation.rule), ("qty", "maximum"));
    ///     }
    /// }
    /// # Ok(()) });
    /// ```
    pub fn validate(&self) -> Audit {
        Audit::of_validation(&self.session, M::COLLECTION)
    }

    /// Watches the documents that match a filter: a stream of the changes that are committed from now on, in the
    /// order of commits, with the document before and after it. A change counts if the document matches before or
    /// after it. A commit is one change for each document, however often it wrote the document.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// let mut changes = shop.parts.watch(Part::fields().qty.lt(10)).await?;
    /// shop.parts.update(1).set(Part::fields().qty, 3).await?;
    ///
    /// let change = changes.try_next().await?.expect("the store is open");
    /// let (before, after) = (change.before.unwrap(), change.after.unwrap());
    /// assert_eq!((change.id, before.qty, after.qty), (1, 90, 3));
    /// # Ok(()) });
    /// ```
    ///
    /// All writes through the library to this store are seen, in this process: those of other databases, and what
    /// follows from them, as a refreshed copy or a cascading delete; see [`Cause`](crate::store::Cause). What the
    /// steps of a migration change is not. A change comes when its commit is visible, and as durable as its write
    /// asked; what is rolled back never comes. A read after the call has returned sees all that was committed before
    /// the stream begins: a copy that is read then, and to which the changes are applied in their order, becomes
    /// what is stored.
    ///
    /// A split document is shown without its cold parts, as `find` returns it. A change of a cold part alone is a
    /// change whose `before` and `after` are equal.
    ///
    /// The call waits for the writes that are under way, a transaction included. A reader who falls behind by
    /// more commits than [`buffer`](Watch::buffer) gets an error that says how many are missed. While a collection
    /// is watched, each write to it reads what it changes, as a write does from which something follows.
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if the store cannot be watched, as one that is no embedded one, or if the filter is invalid or
    /// names a field of a cold part; `OutsideTransaction` inside a transaction or a snapshot; `Closed` if the store
    /// is closed.
    pub fn watch(&self, filter: Filter<M>) -> Watch<M> {
        Watch::new(self.session.clone(), filter)
    }

    /// Returns the documents as BSON: to read them as they are stored, and to write documents that no value of the model
    /// is.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// // A report that is to show every field, also those that this program does not know.
    /// let bolt = shop.parts.raw().get(1).await?;
    /// assert_eq!(bolt.get_str("name").unwrap(), "bolt");
    /// # Ok(()) });
    /// ```
    #[must_use]
    pub fn raw(&self) -> RawRepository<M> {
        RawRepository::new(self.clone())
    }

    /// Returns the description of the model.
    ///
    /// ```
    /// # use odm::__private::examples::*; example(async |shop| {
    /// assert_eq!(shop.parts.model().collection, "parts");
    /// # Ok(()) });
    /// ```
    pub fn model(&self) -> &'static Model {
        M::model()
    }
}

/// The filter for one `_id`.
fn by_id(id: RawBson) -> crate::mql::Filter {
    crate::mql::Filter::Path("_id".into(), crate::mql::Test::Eq(id))
}

/// A query of a whole collection.
fn query<M: Document>(filter: crate::mql::Filter) -> store::Find {
    store::Find {
        collection: M::COLLECTION.to_owned(),
        filter,
        ..store::Find::default()
    }
}

type Deferred<T> = BoxFuture<'static, Result<T>>;
