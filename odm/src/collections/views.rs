//! Views.

use odm_store::Result;

use super::{Collection, Collections};
use crate::{
    catalog::{self, View},
    database::lock_of,
};

impl Collections {
    /// Lists the views with their names, in the order of these.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, collections::View};
    ///
    /// let collections = Collections::of(&shop);
    /// collections.collection("all_parts").create_view(View::new("parts", [])).await?;
    /// assert_eq!(collections.views().await?[0].0, "all_parts");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of a read.
    pub async fn views(&self) -> Result<Vec<(String, View)>> {
        self.session.follow_catalog().await?;
        let catalog = self.session.catalog();
        let views = catalog.views();
        Ok(views
            .map(|(name, view)| (name.to_owned(), view.clone()))
            .collect())
    }
}

impl Collection {
    /// Creates a view under the name, which no collection has. [Aggregations](Collection::aggregate) read it, and a `$lookup` can: each
    /// runs the pipeline of the view before its own, and its first stages are a query of the collection, as far as they can be. Nothing
    /// else can be done with a view but to [drop](Collection::drop) it. Views are stored with the relations of the models, and copied with
    /// them; exports do not have them.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, bson::doc, collections::View, mql::Pipeline};
    ///
    /// let few = Collections::of(&shop).collection("few");
    /// few.create_view(View::new("parts", [doc! { "$match": { "qty": { "$lt": 10_i64 } } }])).await?;
    /// assert_eq!(few.aggregate(Pipeline::default()).await?.len(), 1);
    /// few.drop().await?;
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if a collection or a view has the name, in a transaction, with MongoDB's code if views would be made of each other
    /// in a cycle, more than 20 of them, or with different collations; the errors of the pipeline.
    pub async fn create_view(&self, view: View) -> Result<()> {
        self.put_view(view, false).await
    }

    /// Gives a view another definition.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// use odm::{Collections, collections::View};
    ///
    /// let shown = Collections::of(&shop).collection("shown");
    /// shown.create_view(View::new("parts", [])).await?;
    /// shown.replace_view(View::new("orders", [])).await?;
    /// assert_eq!(shown.view().await?.unwrap().on, "orders");
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// `InvalidQuery` if it is no view; the other errors of [`create_view`](Collection::create_view).
    pub async fn replace_view(&self, view: View) -> Result<()> {
        self.put_view(view, true).await
    }

    async fn put_view(&self, view: View, replaces: bool) -> Result<()> {
        self.check_outside("create or change a view")?;
        let store = self.session.store();
        let lock = lock_of(store);
        let _opening = lock.lock().await;
        catalog::put_view(store, &self.name, view, replaces).await
    }

    /// Returns the view of the name. `None` if it is the name of a collection, or of nothing.
    ///
    /// ```
    /// # use odm::derive::examples::*; example(async |shop| {
    /// assert_eq!(odm::Collections::of(&shop).collection("parts").view().await?, None);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of a read.
    pub async fn view(&self) -> Result<Option<View>> {
        self.session.follow_catalog().await?;
        Ok(self.session.catalog().view(&self.name).cloned())
    }

    /// Refuses operations that are for collections alone.
    pub(super) async fn refuse_view(&self) -> Result<()> {
        self.session.follow_catalog().await?;
        self.session.catalog().refuse_view(&self.name)
    }
}
