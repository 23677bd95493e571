//! The reads of a repository.

use bson::RawBson;
use futures_core::future::BoxFuture;
use odm_store::Result;
use serde::{Serialize, de::DeserializeOwned};

use super::{ChildCardinality, Fetch, Get, Load, Query, Refs, Repository, children, load};
use crate::{
    model::{
        Cold, Document, Embed, Field, HasCold, HasSubset, IntoId, Is, IsOf, Names, ParentOf, Path,
        Subset, SubsetItem, id_to_raw, to_raw,
    },
    query::Filter,
};

/// # Reads
impl<M: Document> Repository<M> {
    /// Reads the document with an `_id`.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
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
    /// # use odm::derive::examples::*; example(async |shop| {
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
    /// # use odm::derive::examples::*; example(async |shop| {
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
    /// `load(&mut movies, Movie::fields().details)`. The stored value replaces the value in the field, which is unloaded if none is stored.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// let mut products = shop.products.all().limit(2).await?;
    /// assert!(!products[0].manual.is_loaded());
    /// shop.products.load(&mut products, Product::fields().manual).await?;
    /// assert_eq!(products[0].manual.get().unwrap().pages, 2);
    /// # Ok(()) });
    /// ```
    // No `async fn`: the compiler would report its bounds once more at each await.
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
    /// # use odm::derive::examples::*; example(async |shop| {
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
    /// # use odm::derive::examples::*; example(async |shop| {
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
    /// # use odm::derive::examples::*; example(async |shop| {
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
        let filter = id.map(|id| odm_mql::Filter::Path(P::PATH.into(), odm_mql::Test::Eq(id)));
        C::query(self.find(Filter::from_mql(filter)))
    }

    /// Finds the children after the ones that a subset of their parent shows, in its order:
    /// `reviews.after_subset(&product, Product::fields().reviews)`, for a page that continues the list in the product. Only children that
    /// match the filter of the subset are among them.
    ///
    /// It continues after the elements in `parent`, as they were read. A child that has changed since may come again. No unseen child is
    /// left out, unless it is newer than the seen ones. The call reads at most twice as many children as the subset shows; the query that
    /// it returns, to limit or page, reads only the children after them.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
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
    // No `async fn`: the compiler would report its bounds once more at each await.
    pub fn after_subset<P, T, A, K>(
        &self,
        parent: &P,
        _: Field<Subset<T>, A, K>,
    ) -> BoxFuture<'static, Result<Query<M>>>
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
}
