//! What users hold: a repository for each collection, and the builders of its operations.
//!
//! A builder does nothing until it is awaited. Unless its documentation says otherwise, a write is
//! one unit: when it returns, all of it is stored, with everything that is derived from it; when it
//! fails, nothing is. Dropping its future either prevents it or lets all of it happen.

mod children;
mod delete;
mod find;
mod get;
mod halves;
mod insert;
mod join;
mod page;
mod replace;
mod rows;
mod stream;
mod update;

use std::{fmt, marker::PhantomData};

use bson::RawBson;
use serde::{Serialize, de::DeserializeOwned};

pub use children::{Any, AtMostOne, Cardinality, OfParent};
pub use delete::{Delete, DeleteWhere};
pub use find::Find;
pub use get::{Fetch, Get, Refs};
pub use halves::Load;
pub use insert::{Insert, InsertMany};
pub use join::{Back, Follow, Join, Joins, Resolve};
pub use page::{Cursor, Page};
pub use replace::Replace;
pub use stream::Documents;
pub use update::{Many, One, Updated};

use crate::{
    database::Session,
    error::Result,
    model::{
        ChildOf, Cold, Document, Embed, Field, HasCold, HasSubset, IntoId, Model, Path, Subset,
        SubsetItem, to_raw,
    },
    query::{Filter, Update},
    store::{self, Durability},
};

/// The documents of one collection.
///
/// It is a field of a [`Database`](crate::prelude::Database), and is cheap to clone.
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

impl<M: Document> Repository<M> {
    pub(crate) fn new(session: Session) -> Self {
        Repository {
            session,
            model: PhantomData,
        }
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// The same repository, with another durability for its writes. In a transaction, that of the
    /// transaction counts.
    pub fn durability(&self, durability: Durability) -> Self {
        Repository::new(self.session.with_durability(durability))
    }

    /// Stores a new document, and returns what was stored.
    ///
    /// # Errors
    ///
    /// `DuplicateKey` if its `_id` or the key of a unique index is taken; `DanglingReference` if a
    /// reference in it leads nowhere; `Limit` if it is over 16 MiB or nested over 100 levels.
    pub fn insert(&self, document: M) -> Insert<M> {
        Insert::new(self.session.clone(), document)
    }

    /// Stores new documents as one unit, and returns what was stored, in the same order. They may
    /// refer to each other.
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Repository::insert), for any of them: nothing is stored then.
    pub fn insert_many(&self, documents: impl IntoIterator<Item = M>) -> InsertMany<M> {
        InsertMany::new(self.session.clone(), documents.into_iter().collect())
    }

    /// Reads the document with an `_id`.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none; see [`optional`](Get::optional).
    pub fn get(&self, id: impl IntoId<M>) -> Get<M> {
        Get::new(self.session.clone(), to_raw(&id.into_id()))
    }

    /// Reads the documents with these `_id`s by one request, in the same order, repeats included.
    ///
    /// # Errors
    ///
    /// `NotFound`, naming the `_id`s that no document has; see [`optional`](Fetch::optional).
    pub fn get_many<I: IntoId<M>>(&self, ids: impl IntoIterator<Item = I>) -> Fetch<M> {
        let ids = ids.into_iter().map(|id| to_raw(&id.into_id())).collect();
        Fetch::new(self.session.clone(), ids)
    }

    /// Reads the documents that references lead to by one request, in the same order, repeats
    /// included: the application-level join of MongoDB's guides.
    ///
    /// It takes one reference or many, bare or in embedded links.
    ///
    /// # Errors
    ///
    /// `NotFound`, naming the `_id`s that no document has; see [`optional`](Fetch::optional).
    pub fn fetch<R: Refs<M> + ?Sized>(&self, references: &R) -> Fetch<M> {
        let ids = references
            .refs()
            .into_iter()
            .map(|reference| to_raw(reference.id()))
            .collect();
        Fetch::new(self.session.clone(), ids)
    }

    /// Loads a half that is stored apart into a document, or into many by one query:
    /// `load(&mut movies, Movie::fields().details)`. What was in the field is replaced by what is
    /// stored; where nothing is, it is not loaded afterwards.
    pub async fn load<T, P, K, L>(
        &self,
        documents: &mut L,
        half: Field<Cold<T>, P, K>,
    ) -> Result<()>
    where
        M: HasCold<P, T>,
        P: Path<Root = M>,
        T: Embed + DeserializeOwned,
        L: Load<M> + ?Sized,
    {
        halves::load(&self.session, documents.documents(), half).await
    }

    /// The documents that match a filter.
    ///
    /// A filter or a sort is about fields of the document itself, or about fields of one half that is
    /// stored apart; one that mixes them is an error when the query runs. A query by a half finds
    /// only documents that have it, and loads it.
    pub fn find(&self, filter: Filter<M>) -> Find<M> {
        Find::new(self.session.clone(), filter)
    }

    /// All documents, in the order of their `_id`s.
    pub fn all(&self) -> Find<M> {
        self.find(Filter::all())
    }

    /// The children of a parent: the documents whose `#[reference(parent)]` leads to it. A `Find`,
    /// to be sorted and limited, or for a reference with `one` the child itself, if there is one.
    pub fn of<P: Document, const N: usize>(
        &self,
        parent: &P,
    ) -> <M::Cardinality as Cardinality>::Query<M>
    where
        M: ChildOf<P, N, Cardinality: Cardinality>,
    {
        let id = to_raw(parent.id());
        let filter =
            id.map(|id| crate::mql::Filter::Path(M::PATH.into(), crate::mql::Test::Eq(id)));
        <M::Cardinality as Cardinality>::query(self.find(Filter::of(filter)))
    }

    /// The children that follow after those that a subset of their parent shows, in its order:
    /// `reviews.beyond(&product, Product::fields().reviews)`, for a page that goes on where the
    /// product's own ends. Only those that the subset counts are among them.
    ///
    /// It goes on after the elements of `parent` that are still the first of the children, as they were
    /// read, newer ones aside. What has changed meanwhile may come again; nothing is left out that was
    /// not seen, unless it is newer than what was. It reads
    /// at most twice as many children as the subset shows; the query that it returns, to be limited
    /// or paged, reads only what follows.
    ///
    /// # Errors
    ///
    /// `Decode` if a child cannot be read as what the subset shows.
    pub async fn beyond<P, T, A, K>(&self, parent: &P, _: Field<Subset<T>, A, K>) -> Result<Find<M>>
    where
        P: Document + HasSubset<A, T>,
        A: Path<Root = P>,
        T: SubsetItem<Child = M> + Serialize + DeserializeOwned,
    {
        let find = children::beyond(&self.session, parent, A::TEXT, parent.subset()).await?;
        Ok(Find::of(self.session.clone(), find))
    }

    /// Changes fields of the document with an `_id`: `update(id).set(Part::fields().qty, 3)`.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none; those of [`insert`](Repository::insert) for what it becomes.
    pub fn update(&self, id: impl IntoId<M>) -> Update<M, One> {
        Update::of(One::new(self.session.clone(), to_raw(&id.into_id())))
    }

    /// Changes fields of all documents that match a filter, as one unit.
    ///
    /// # Errors
    ///
    /// Those of [`insert`](Repository::insert) for what any of them becomes: nothing is changed
    /// then. `Limit` if there are more than a unit may touch.
    pub fn update_where(&self, filter: Filter<M>) -> Update<M, Many> {
        Update::of(Many::new(self.session.clone(), filter.into_mql()))
    }

    /// Reads the document with an `_id`, lets the closure change it, and stores the fields that are
    /// different, if nobody has changed the document in between. Otherwise it starts again, so the
    /// closure may run more than once. Returns what was stored.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none; `Stale` if others changed it again and again; those of
    /// [`insert`](Repository::insert) for what it becomes.
    pub fn modify<I, F>(
        &self,
        id: I,
        change: F,
    ) -> impl Future<Output = Result<M>> + Send + use<M, I, F>
    where
        I: IntoId<M>,
        F: FnMut(&mut M) + Send,
    {
        replace::modify(self.session.clone(), to_raw(&id.into_id()), change)
    }

    /// Stores a document in the place of the one with the same `_id`, and returns what was stored.
    ///
    /// What others changed since it was read is lost, unless the model has a `#[version]`.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is none; `Stale` if the model has a `#[version]` and the document was
    /// changed since it was read; those of [`insert`](Repository::insert).
    pub fn replace(&self, document: M) -> Replace<M> {
        Replace::new(self.session.clone(), document, false)
    }

    /// Stores a document in the place of the one with the same `_id`, or as a new one. Returns what
    /// was stored.
    ///
    /// # Errors
    ///
    /// Those of [`replace`](Repository::replace), except `NotFound`.
    pub fn upsert(&self, document: M) -> Replace<M> {
        Replace::new(self.session.clone(), document, true)
    }

    /// Removes the document with an `_id`, and tells whether there was one.
    ///
    /// # Errors
    ///
    /// `Restricted` if other documents refer to it, naming one.
    pub fn delete(&self, id: impl IntoId<M>) -> Delete<M> {
        Delete::new(self.session.clone(), to_raw(&id.into_id()))
    }

    /// Removes all documents that match a filter, as one unit, and returns their number.
    ///
    /// # Errors
    ///
    /// `Restricted` if documents that stay refer to one of them: nothing is removed then. `Limit`
    /// if there are more than a unit may touch.
    pub fn delete_where(&self, filter: Filter<M>) -> DeleteWhere<M> {
        DeleteWhere::new(self.session.clone(), filter)
    }

    /// The model, as the catalog sees it.
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

type Deferred<T> = futures_core::future::BoxFuture<'static, Result<T>>;
